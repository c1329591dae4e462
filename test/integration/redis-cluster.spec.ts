import { Cluster, type Redis } from 'ioredis';
import { freshKey, freshToken, LONG } from '../contract/subject.js';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { entryBytes, makeStore, request, subjectOf, type Kit } from './redis-store-kit.js';

const SLOTS = 16_384;
const masters: RedisServer[] = [];
const kits: Kit[] = [];

/** A port whose bus port, 10 000 above, exists. */
async function clusterPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port < 55_000) return port;
  }
}

beforeAll(async () => {
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'];
  for (let i = 0; i < 3; i++) masters.push(await RedisServer.start({ port: await clusterPort(), args }));
  const clients = masters.map((master) => master.client());
  await Promise.all(
    clients.map((client, i) => {
      const from = Math.floor((SLOTS * i) / 3);
      const slots = Array.from(
        { length: Math.floor((SLOTS * (i + 1)) / 3) - from },
        (_, slot) => from + slot,
      );
      return client.call('CLUSTER', 'ADDSLOTS', ...slots.map(String));
    }),
  );
  for (const other of masters.slice(1))
    await clients[0]?.call('CLUSTER', 'MEET', other.host, String(other.port));
  const agreed = async (client: Redis) => {
    const info = String(await client.call('CLUSTER', 'INFO'));
    return info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3');
  };
  await until(async () => (await Promise.all(clients.map(agreed))).every(Boolean), {
    what: 'the cluster to agree',
    timeout: 20_000,
    every: 50,
  });
}, 30_000);
afterAll(() => Promise.all(masters.map((master) => master.stop())));
afterEach(async () => {
  await Promise.all(kits.splice(0).map(({ store }) => store.close()));
});

const nodes = () => masters.map(({ host, port }) => ({ host, port }));

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
  expect(await store.commit(key, { token: first.token, bytes, hardMs: LONG })).toBe('stored');
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
  await store.invalidate(key);
  expect(await store.read(key)).toBeNull();
}

describe('on a cluster of three masters', () => {
  it('every operation works on keys of all slots', async () => {
    const kit = await opened({ nodes: nodes() });
    expect([kit.states, kit.pushes]).toEqual([['up: connected'], ['up: subscribed']]);
    // A rejection (CROSSSLOT, MOVED that nobody follows) fails the test.
    for (let round = 0; round < 10; round++)
      await Promise.all(Array.from({ length: 10 }, () => everything(kit)));
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
      await one.store.commit(subject.key, { token, bytes, hardMs: LONG });
      await until(() => log.wakes.length > 0, { what: 'the wake-up' });
    }
  });

  it('an instance handed in with auto-pipelining works, and stays open', async () => {
    const client = new Cluster(nodes(), { enableAutoPipelining: true });
    const kit = await opened(client);
    await Promise.all(Array.from({ length: 50 }, () => everything(kit)));
    await masters[0]?.client().script('FLUSH');
    await Promise.all(Array.from({ length: 50 }, () => everything(kit)));
    await kit.store.close();
    expect(await client.get('x')).toBeNull();
    client.disconnect();
  }, 20_000);

  it('an instance handed in with a key prefix works', async () => {
    const client = new Cluster(nodes(), { keyPrefix: 'tenant:' });
    const kit = await opened(client);
    await everything(kit);
    const subject = subjectOf(kit.store);
    const log = await subject.listen(kit.store);
    const token = await subject.own();
    await subject.waitFor(token);
    await kit.store.invalidate(subject.key);
    await until(() => log.wakes.length > 0, { what: 'the wake-up' });
    await kit.store.close();
    client.disconnect();
  });

  it('an invalidation works while its slot moves from one master to another', async () => {
    const kit = await opened({ nodes: nodes() });
    const subject = subjectOf(kit.store);
    await subject.publish();
    const admin = masters[0]?.client();
    const slot = Number(await admin?.call('CLUSTER', 'KEYSLOT', `shop:d:{${subject.key.id}}`));
    const [from, to] = await ownerAndOther(slot);
    await to.client.call('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', from.id);
    await from.client.call('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', to.id);
    try {
      // With the lease absent and the data still here, a script on both keys gets TRYAGAIN.
      await kit.store.invalidate(subject.key);
      expect(await kit.store.read(subject.key)).toBeNull();
    } finally {
      await from.client.call('CLUSTER', 'SETSLOT', String(slot), 'STABLE');
      await to.client.call('CLUSTER', 'SETSLOT', String(slot), 'STABLE');
    }
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

interface Node {
  readonly id: string;
  readonly client: Redis;
}

async function ownerAndOther(slot: number): Promise<[Node, Node]> {
  const known = await Promise.all(
    masters.map(async (master, i) => {
      const client = master.client();
      const owned = slot >= Math.floor((SLOTS * i) / 3) && slot < Math.floor((SLOTS * (i + 1)) / 3);
      return { client, owned, id: String(await client.call('CLUSTER', 'MYID')) };
    }),
  );
  const [owner, other] = [known.find(({ owned }) => owned), known.find(({ owned }) => !owned)];
  if (owner === undefined || other === undefined) throw new Error(`no owner of slot ${slot}`);
  return [owner, other];
}
