import type { Redis } from 'ioredis';
import type { Wake } from '../../lib/core/store.js';
import { freshKey, LONG } from '../contract/subject.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { closeProxy, entryBytes, makeStore, request, subjectOf, type Kit } from './redis-store-kit.js';

let server: RedisServer;
let admin: Redis;
const kits: Kit[] = [];

beforeAll(async () => {
  server = await RedisServer.start();
  admin = server.client();
});
afterAll(() => server.stop());
afterEach(async () => {
  await Promise.all(kits.splice(0).map(({ store }) => store.close()));
});

async function opened(...args: Parameters<typeof makeStore>): Promise<Kit> {
  const kit = await makeStore(...args);
  kits.push(kit);
  await kit.store.open();
  return kit;
}

const subscribers = async (channel = 'shop:wake'): Promise<number> =>
  Number((await admin.pubsub('NUMSUB', channel))[1]);

/** Ends the connections that are subscribed, as a server that drops a slow consumer does. */
const killSubscribers = (): Promise<unknown> => admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');

describe('wake-ups', () => {
  it('arrive in a fraction of the time a poll would take', async () => {
    const [one, two] = [await opened(server.url), await opened(server.url)];
    const took: number[] = [];
    for (let round = 0; round < 30; round++) {
      const subject = subjectOf(one.store, two.store);
      const token = await subject.own();
      const woken = new Promise<Wake>((resolve) => two.store.listen(subject.key, resolve));
      await subject.waitFor(token);
      const bytes = entryBytes(token, Buffer.from('1'));
      const start = performance.now();
      await one.store.commit(subject.key, { token, bytes, hardMs: LONG, rejectedId: '' });
      expect(await woken).toEqual({ kind: 'published' });
      took.push(performance.now() - start);
    }
    const median = took.sort((a, b) => a - b)[15] ?? Infinity;
    expect(median).toBeLessThan(20);
  });

  it('say "unknown" when the subscriber is lost, and again when it is back', async () => {
    const { store } = await opened(server.url);
    expect(store.pushUp()).toBe(true);
    const seen: [string, boolean][] = [];
    store.listen(freshKey(), ({ kind }) => seen.push([kind, store.pushUp()]));
    await killSubscribers();
    await until(() => seen.length === 2, { what: 'both wake-ups' });
    expect(seen).toEqual([
      ['unknown', false],
      ['unknown', true],
    ]);
    expect(await subscribers()).toBe(1);
  });

  it('reach a store whose subscriber has come back', async () => {
    const { store, pushes } = await opened(server.url);
    const subject = subjectOf(store);
    await killSubscribers();
    await until(() => pushes.length === 3, { what: 'up, down, up' });
    const log = await subject.listen(store);
    const token = await subject.own();
    await subject.waitFor(token);
    await store.invalidate(subject.key, 0);
    expect(await subject.onlyWake(log)).toEqual({ kind: 'invalidated' });
  });

  it('are subscribed to anew after a restart of the server, by one connection', async () => {
    const own = await RedisServer.start();
    const { store, pushes, states } = await opened(own.url);
    try {
      await own.restart();
      await until(() => store.isUp() && store.pushUp(), { what: 'both connections' });
      const [, count] = await own.client().pubsub('NUMSUB', 'shop:wake');
      await until(async () => Number((await own.client().pubsub('NUMSUB', 'shop:wake'))[1]) === 1);
      expect(Number(count)).toBeLessThanOrEqual(2);
      expect(pushes.at(-1)).toBe('up: subscribed');
      expect(states.map((line) => line.slice(0, 4))).toEqual(['up: ', 'down', 'up: ']);
    } finally {
      await store.close();
      await own.stop();
    }
  });

  it('are subscribed to only when the connection is ready, however slow its handshake is', async () => {
    const proxy = await TcpProxy.start({ port: server.port });
    proxy.delayReplies(15);
    try {
      // Each one would lose its subscription on some versions of ioredis, if SUBSCRIBE went out before `ready`.
      const many = await Promise.all(Array.from({ length: 20 }, () => makeStore(proxy.url)));
      kits.push(...many);
      await Promise.all(many.map(({ store }) => store.open()));
      await until(() => many.every(({ store }) => store.pushUp()), { what: 'all subscribed' });
      expect(await subscribers()).toBe(20);
    } finally {
      await Promise.all(kits.splice(0).map(({ store }) => store.close()));
      await closeProxy(proxy);
    }
  });

  it('need no right to publish: the load is stored all the same', async () => {
    const own = await RedisServer.start({ users: ['app on >secret ~* resetchannels +@all'] });
    const { store, pushes } = await makeStore(`redis://app:secret@127.0.0.1:${own.port}`);
    try {
      await store.open();
      const subject = subjectOf(store);
      const token = await subject.own();
      await subject.waitFor(token);
      const bytes = entryBytes(token, Buffer.from('1'));
      expect(await store.commit(subject.key, { token, bytes, hardMs: LONG, rejectedId: '' })).toBe('stored');
      expect(store.pushUp()).toBe(false);
      expect(pushes[0]).toMatch(/^down: .*NOPERM/);
    } finally {
      await store.close();
      await own.stop();
    }
  });

  it('that are not ours do no harm', async () => {
    const { store } = await opened(server.url);
    const subject = subjectOf(store);
    const log = await subject.listen(store);
    for (const text of [
      '',
      'x',
      'p',
      'p  9999 short',
      'e - 1',
      '\u0000\u0001',
      `p  ${subject.key.id.length}`,
    ]) {
      await admin.publish('shop:wake', text);
    }
    await subject.flushWakes();
    expect(log.wakes).toEqual([]);
  });

  it('of a waiter that throws do not keep the others from theirs', async () => {
    const { store, warnings } = await opened(server.url);
    const subject = subjectOf(store);
    store.listen(subject.key, () => {
      throw new Error('a broken waiter');
    });
    const log = await subject.listen(store);
    const token = await subject.own();
    await subject.waitFor(token);
    await store.invalidate(subject.key, 0);
    expect(await subject.onlyWake(log)).toEqual({ kind: 'invalidated' });
    expect(warnings).toEqual([expect.stringContaining('a broken waiter')]);
  });

  it('go by the key prefix of a client handed in, and by its database', async () => {
    const client = server.client({ keyPrefix: 'tenant:', db: 3 });
    const { store } = await opened(client);
    const subject = subjectOf(store);
    const log = await subject.listen(store);
    const token = await subject.own();
    await subject.waitFor(token);
    const bytes = entryBytes(token, Buffer.from('1'));
    await store.commit(subject.key, { token, bytes, hardMs: LONG, rejectedId: '' });
    expect(await subject.onlyWake(log)).toEqual({ kind: 'published' });
    expect(await subscribers('tenant:shop:wake:3')).toBe(1);
    expect(await server.client({ db: 3 }).exists(`tenant:shop:d:{${subject.key.id}}`)).toBe(1);
  });

  it('work with a client that hands out numbers as strings', async () => {
    const { store } = await opened(server.client({ stringNumbers: true }));
    const key = freshKey();
    const mine = request();
    expect(await store.acquire(key, mine)).toEqual({ code: 'owner', now: expect.any(Number) as number });
    expect(await store.acquire(key, request())).toMatchObject({
      code: 'wait',
      ms: expect.any(Number) as number,
    });
    expect(await store.renew(key, mine.token, LONG)).toEqual({ held: true, contended: false });
    expect(await store.release(key, { token: mine.token, outcome: '' })).toBe(true);
  });
});
