import { Cluster, type Redis } from 'ioredis';
import { freshKey, freshToken, LONG, type Subject } from '../contract/subject.js';
import { countWrites } from '../support/count-writes.js';
import { RedisCluster, type ClusterNode } from '../support/redis-cluster.js';
import type { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { entryBytes, makeStore, request, subjectOf, type Kit } from './redis-store-kit.js';

let cluster: RedisCluster;
let masters: RedisServer[];
const kits: Kit[] = [];

beforeAll(async () => {
  cluster = await RedisCluster.start({ replicas: 0, nodeTimeout: 5000 });
  masters = cluster.all.map(({ server }) => server);
}, 30_000);
afterAll(() => cluster.stop(), 30_000);
afterEach(async () => {
  await Promise.all(kits.splice(0).map(({ store }) => store.close()));
});

const nodes = () => cluster.nodes;

async function opened(connection: unknown): Promise<Kit> {
  const kit = await makeStore(connection);
  kits.push(kit);
  await kit.store.open();
  return kit;
}

/** Every operation of the store on one key. */
async function everything({ store }: Kit): Promise<void> {
  const key = freshKey();
  const first = request();
  expect(await store.acquire(key, first)).toMatchObject({ code: 'owner' });
  expect(await store.acquire(key, request({ willWait: true }))).toMatchObject({
    code: 'wait',
    token: first.token,
  });
  expect(await store.renew(key, first.token, LONG)).toEqual({ held: true, contended: true });
  const bytes = entryBytes(first.token, Buffer.from('1'));
  expect(await store.commit(key, { token: first.token, bytes, hardMs: LONG, rejectedId: '' })).toBe('stored');
  expect((await store.read(key))?.equals(bytes)).toBe(true);
  const second = request({ rejectedId: first.token, hasStale: true });
  expect(await store.acquire(key, second)).toMatchObject({ code: 'owner' });
  const head = entryBytes(second.token, Buffer.alloc(0));
  const touch = { token: second.token, entryId: first.token, head, hardMs: LONG };
  expect(await store.touch(key, touch)).toBe('stored');
  const third = request({ rejectedId: second.token });
  expect(await store.acquire(key, third)).toMatchObject({ code: 'owner' });
  expect(await store.release(key, { token: third.token, outcome: 'x' })).toBe(true);
  const token = freshToken();
  const put = {
    token,
    bytes: entryBytes(token, Buffer.from('2')),
    hardMs: LONG,
    notAfter: store.now() + LONG,
  };
  expect(await store.put(key, put)).toBe('stored');
  await store.write(key, bytes, LONG);
  expect((await store.peek(key)).bytes?.equals(bytes)).toBe(true);
  await store.expire(key);
  await store.invalidate(key, 0);
  expect(await store.read(key)).toBeNull();
  await store.invalidate(key, LONG);
  expect(await store.acquire(key, request())).toMatchObject({ code: 'heldOff' });
  const plain = { ...freshKey(), variant: '.2' };
  expect(await store.acquire(plain, request())).toMatchObject({ code: 'owner' });
  await store.invalidate(plain, 0);
}

/** Every operation of the store on tags of many slots, scopes and names, sent together. */
async function everythingShared({ store }: Kit): Promise<void> {
  const ids = Array.from({ length: 30 }, () => `tag-${freshToken()}`);
  expect(await store.tags(ids)).toEqual(ids.map(() => undefined));
  const held = await store.holdTags(ids, LONG);
  expect(await store.tags(ids)).toEqual(held);
  const states = await Promise.all(ids.map((id) => store.invalidateTag(id, LONG)));
  expect(await store.tags(ids)).toEqual(states);
  await Promise.all(ids.map((id) => store.expireTag(id)));
  expect((await store.tags(ids)).map((state) => state?.hard)).toEqual(states.map(({ hard }) => hard));
  const epochs = await Promise.all(ids.map((id) => store.clear(id)));
  const known = await store.epochs();
  expect(ids.map((id) => known.get(id))).toEqual(epochs);
  await store.raiseEpochs(known);
  await Promise.all(ids.map((id) => store.announce(id, '.1', LONG)));
  expect(await Promise.all(ids.map((id) => store.variants(id)))).toEqual(ids.map(() => ['.1']));
}

/** How often the masters have refused a command because of its keys. */
async function crossSlotErrors(): Promise<number> {
  return (await cluster.errors())['CROSSSLOT'] ?? 0;
}

describe('on a cluster of three masters', () => {
  it("says that coherence.mode 'tracking' needs one server, and hears messages", async () => {
    const kit = await makeStore({ nodes: nodes() }, { tracking: true });
    kits.push(kit);
    await kit.store.open();
    await until(() => kit.store.pushUp(), { what: 'the subscription' });
    expect(kit.warnings).toEqual([expect.stringContaining("coherence.mode 'tracking' needs one server")]);
  });

  it('every operation works on keys of all slots', async () => {
    const kit = await opened({ nodes: nodes() });
    expect([kit.states, kit.pushes]).toEqual([['up: connected'], ['up: subscribed']]);
    // A rejection (CROSSSLOT, MOVED that nobody follows) fails the test.
    for (let round = 0; round < 10; round++)
      await Promise.all(Array.from({ length: 10 }, () => everything(kit)));
    await everythingShared(kit);
    expect(await crossSlotErrors()).toBe(0);
    const sizes = await Promise.all(
      masters.map(async (master) => (await master.commandCounts())['rename'] ?? 0),
    );
    expect(Math.min(...sizes)).toBeGreaterThan(10);
  }, 20_000);

  it('a wake-up reaches waiters whichever master it comes from', async () => {
    const [one, two] = [await opened({ nodes: nodes() }), await opened({ nodes: nodes() })];
    for (let round = 0; round < 12; round++) {
      const subject = subjectOf(one.store, two.store);
      const log = await subject.listen();
      const token = await subject.own();
      await subject.waitFor(token);
      const bytes = entryBytes(token, Buffer.from('1'));
      await one.store.commit(subject.key, { token, bytes, hardMs: LONG, rejectedId: '' });
      await until(() => log.wakes.length > 0, { what: 'the wake-up' });
    }
  });

  it('an instance handed in with auto-pipelining works, and stays open', async () => {
    const client = new Cluster(nodes(), { enableAutoPipelining: true });
    const kit = await opened(client);
    await Promise.all(Array.from({ length: 50 }, () => everything(kit)));
    await masters[0]?.client().script('FLUSH');
    await Promise.all(Array.from({ length: 50 }, () => everything(kit)));
    await Promise.all(Array.from({ length: 3 }, () => everythingShared(kit)));
    expect(await crossSlotErrors()).toBe(0);
    await until(() => kit.store.toldUntil() > -Infinity, { what: 'a proof' });
    await kit.store.close();
    expect(await client.get('x')).toBeNull();
    client.disconnect();
  }, 20_000);

  it('reads of many keys at once leave in a few writes to each server', async () => {
    const client = new Cluster(nodes());
    const kit = await opened(client);
    const keys = Array.from({ length: 200 }, () => freshKey());
    const readAll = () => Promise.all(keys.map((key) => kit.store.read(key)));
    try {
      await readAll();
      const counts = client.nodes('master').map(({ stream }) => countWrites(stream));
      expect(await readAll()).toEqual(keys.map(() => null));
      for (const writes of counts) {
        expect(writes()).toBeGreaterThan(0);
        expect(writes()).toBeLessThan(10);
      }
    } finally {
      await kit.store.close();
      client.disconnect();
    }
  }, 20_000);

  it('an instance handed in with a key prefix works', async () => {
    const client = new Cluster(nodes(), { keyPrefix: 'tenant:' });
    const kit = await opened(client);
    await everything(kit);
    await everythingShared(kit);
    await until(() => kit.store.toldUntil() > -Infinity, { what: 'a proof' });
    const subject = subjectOf(kit.store);
    const log = await subject.listen(kit.store);
    const token = await subject.own();
    await subject.waitFor(token);
    await kit.store.invalidate(subject.key, 0);
    await until(() => log.wakes.length > 0, { what: 'the wake-up' });
    await kit.store.close();
    client.disconnect();
  });

  it('scripts follow redirections, also to servers that do not know them', async () => {
    const client = cluster.client({ enableOfflineQueue: false });
    await until(() => client.status === 'ready');
    const kit = await opened(client);
    // As with a `natMap` of ioredis: each redirection makes the table name servers that nobody knows.
    const forget = () => client.slots.fill(['elsewhere:1']);
    client.on('refresh', forget);
    for (let round = 0; round < 5; round++) {
      await Promise.all(masters.map((master) => master.client().script('FLUSH')));
      forget();
      await Promise.all(Array.from({ length: 100 }, () => kit.store.invalidate(freshKey(), 0)));
    }
    client.off('refresh', forget);
  }, 20_000);

  it('signals reach all who watch, in time, whichever master they come from', async () => {
    const [one, two] = [await opened({ nodes: nodes() }), await opened({ nodes: nodes() })];
    const seen: string[] = [];
    two.store.watch((signal) => {
      if (signal.kind === 'tag') seen.push(signal.id);
      if (signal.kind === 'epoch') seen.push(signal.scope);
    });
    for (let round = 0; round < 12; round++) {
      const id = `tag-${freshToken()}`;
      await one.store.invalidateTag(id, 0);
      await one.store.clear(id);
      const done = performance.now();
      await until(() => two.store.toldUntil() > done, { what: 'a proof' });
      expect(seen).toEqual([id, id]);
      seen.length = 0;
    }
  }, 20_000);

  it('a heartbeat goes through every master, to nobody else, and only while somebody asks', async () => {
    const kit = await makeStore({ nodes: nodes() }, { maxLag: 400 });
    kits.push(kit);
    await kit.store.open();
    const published = () =>
      Promise.all(masters.map(async (master) => (await master.commandCounts())['publish'] ?? 0));
    const before = await published();
    await until(() => kit.store.toldUntil() > -Infinity, { what: 'a proof' });
    const channels = await Promise.all(
      masters.map((master) => master.client().pubsub('CHANNELS', 'shop:wake:*')),
    );
    expect(channels.flat()).toEqual([expect.stringMatching(/^shop:wake:[\w-]{22}$/)]);
    let last = [0];
    await until(
      async () => {
        const now = await published();
        const rests = String(now) === String(last);
        last = now;
        return rests;
      },
      { every: 300, what: 'the beats to end' },
    );
    for (const [at, count] of last.entries()) {
      expect(count - (before[at] ?? 0)).toBeGreaterThan(1);
      expect(count - (before[at] ?? 0)).toBeLessThan(40);
    }
  }, 20_000);

  it('the proof stands still while a master is frozen, and no subscriber is blamed for it', async () => {
    const kit = await makeStore({ nodes: nodes() }, { maxLag: 200 });
    kits.push(kit);
    await kit.store.open();
    await until(() => kit.store.toldUntil() > -Infinity, { what: 'a proof' });
    const counts = await Promise.all(
      masters.map(async (master) => Number((await master.client().pubsub('NUMSUB', 'shop:wake'))[1])),
    );
    const frozen = masters[counts.indexOf(0)];
    frozen?.pause();
    try {
      const paused = performance.now();
      await until(() => performance.now() > paused + 700, {
        what: `time to pass; ${kit.store.toldUntil()}`,
        every: 20,
      });
      expect(kit.store.toldUntil()).toBeLessThanOrEqual(paused);
      expect(kit.pushes).toEqual(['up: subscribed']);
    } finally {
      frozen?.resume();
    }
    const resumed = performance.now();
    await until(() => kit.store.toldUntil() > resumed, { what: 'a proof' });
  }, 20_000);

  it('a subscriber whose own master is frozen is replaced', async () => {
    const kit = await makeStore({ nodes: nodes() }, { maxLag: 200 });
    kits.push(kit);
    await kit.store.open();
    await until(() => kit.store.toldUntil() > -Infinity, { what: 'a proof' });
    const gaps: string[] = [];
    kit.store.watch(({ kind }) => void gaps.push(kind));
    const counts = await Promise.all(
      masters.map(async (master) => Number((await master.client().pubsub('NUMSUB', 'shop:wake'))[1])),
    );
    const frozen = masters[counts.findIndex((count) => count > 0)];
    frozen?.pause();
    try {
      await until(
        () => {
          kit.store.toldUntil();
          return gaps.length > 0;
        },
        { what: 'the gap' },
      );
      expect(kit.pushes.at(-1)).toBe('down: no heartbeat came back for 200 ms');
    } finally {
      frozen?.resume();
    }
    await until(() => kit.store.toldUntil() > -Infinity, { what: 'a proof', timeout: 12_000 });
  }, 20_000);

  /** Runs `change` while the slot of the subject's keys is half moved: with the lease absent, two keys can't be had at once. */
  async function whileMoving(subject: Subject, change: (to: Redis) => Promise<void>): Promise<void> {
    const admin = masters[0]?.client();
    const slot = Number(await admin?.call('CLUSTER', 'KEYSLOT', `shop:d:{${subject.key.id}}`));
    const from = await cluster.masterOf(slot);
    const to = cluster.all.find((node) => node !== from) as ClusterNode; // there are three
    await to.admin.call('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', from.id);
    await from.admin.call('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', to.id);
    try {
      await change(to.admin);
    } finally {
      await to.admin.call('ASKING');
      await to.admin.del(`shop:l:{${subject.key.id}}`).catch(() => undefined);
      await from.admin.call('CLUSTER', 'SETSLOT', String(slot), 'STABLE');
      await to.admin.call('CLUSTER', 'SETSLOT', String(slot), 'STABLE');
    }
  }

  it('an invalidation works while its slot moves from one master to another', async () => {
    const { store } = await opened({ nodes: nodes() });
    const subject = subjectOf(store);
    await subject.publish();
    await whileMoving(subject, async () => {
      await store.invalidate(subject.key, 0);
      expect(await store.read(subject.key)).toBeNull();
    });
  }, 20_000);

  it('a hold-off begins, and is not shortened, while its slot moves', async () => {
    const { store } = await opened({ nodes: nodes() });
    const subject = subjectOf(store);
    await subject.publish();
    await whileMoving(subject, async (to) => {
      await store.invalidate(subject.key, LONG);
      await store.invalidate(subject.key, 0);
      await store.expire(subject.key);
      // New keys of the slot are made where it moves to.
      await to.call('ASKING');
      expect(await to.get(`shop:l:{${subject.key.id}}`)).toMatch(/^H\d{13}$/);
      await to.call('ASKING');
      expect(await to.pttl(`shop:l:{${subject.key.id}}`)).toBeGreaterThan(LONG / 2);
    });
  }, 20_000);

  it('an expiry works while its slot moves', async () => {
    const { store } = await opened({ nodes: nodes() });
    const subject = subjectOf(store);
    await subject.publish();
    const softAt = async () => Number((await store.read(subject.key))?.toString('latin1', 4, 17));
    expect(await softAt()).toBeGreaterThan(store.now() + LONG / 2);
    await whileMoving(subject, async () => {
      await store.expire(subject.key);
      expect(await softAt()).toBeLessThanOrEqual(store.now() + 50);
    });
  }, 20_000);

  it('the subscriber moves to another master when its own one dies, and everything ends in time', async () => {
    const kit = await opened({ nodes: nodes() });
    const counts = await Promise.all(
      masters.map(async (master) => Number((await master.client().pubsub('NUMSUB', 'shop:wake'))[1])),
    );
    const victim = masters[counts.findIndex((count) => count > 0)];
    expect(victim).toBeDefined();
    let unknown = 0;
    kit.store.listen(freshKey(), ({ kind }) => (unknown += kind === 'unknown' ? 1 : 0));
    await victim?.kill();
    await until(() => kit.store.pushUp() && unknown >= 2, {
      what: 'the subscriber to move',
      timeout: 10_000,
    });
    const start = performance.now();
    await kit.store.close();
    expect(performance.now() - start).toBeLessThan(1500);
  }, 20_000);
});
