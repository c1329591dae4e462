import type { Redis, RedisOptions } from 'ioredis';
import type { Signal } from '../../lib/core/store.js';
import { Heartbeat, type Beat } from '../../lib/redis/heartbeat.js';
import { freshKey } from '../contract/subject.js';
import { createFakeRuntime } from '../support/fake-runtime.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { closeProxy, makeStore, type Kit } from './redis-store-kit.js';

const MAX_LAG = 300;

let server: RedisServer;
const kits: Kit[] = [];

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());
afterEach(async () => {
  await Promise.all(kits.splice(0).map(({ store }) => store.close()));
});

async function opened(connection: unknown, maxLag = MAX_LAG): Promise<Kit> {
  const kit = await makeStore(connection, { maxLag });
  kits.push(kit);
  await kit.store.open();
  return kit;
}

/** A client whose duplicates, the subscribers, go by another way than its own commands. */
function withSubscribersAt(port: number): Redis {
  const client = server.client();
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (override?: Partial<RedisOptions>) => duplicate({ ...override, port });
  return client;
}

/** Asks until the answer is beyond that time. */
const toldBeyond = (kit: Kit, time: number): Promise<boolean> =>
  until(() => kit.store.toldUntil() > time, { what: 'a later proof' });

describe('the heartbeat', () => {
  it('tells nothing before its first answer, and moves on while somebody asks', async () => {
    const kit = await opened(server.url);
    expect(kit.store.toldUntil()).toBe(-Infinity);
    const before = performance.now();
    await toldBeyond(kit, before);
    expect(kit.store.toldUntil()).toBeLessThanOrEqual(performance.now());
    await toldBeyond(kit, performance.now());
  });

  it('costs nothing while nobody asks, and comes to rest by itself', async () => {
    const kit = await opened(server.url, 200);
    const pings = async () => (await server.commandCounts())['ping'] ?? 0;
    const before = await pings();
    await until(() => kit.store.pushUp());
    await toldBeyond(kit, performance.now());
    // Ten more beats, one each 50 ms, then none.
    let last = -1;
    await until(
      async () => {
        const now = await pings();
        const rests = now === last;
        last = now;
        return rests;
      },
      { every: 200, what: 'the beats to end' },
    );
    expect(last - before).toBeGreaterThan(1);
    expect(last - before).toBeLessThan(25);
  });

  it('stands still when the subscriber falls silent, then replaces it: those who watch and wait are told', async () => {
    const proxy = await TcpProxy.start({ port: server.port });
    try {
      const kit = await opened(withSubscribersAt(proxy.port));
      await toldBeyond(kit, -Infinity);
      const signals: Signal['kind'][] = [];
      const wakes: string[] = [];
      kit.store.watch(({ kind }) => void signals.push(kind));
      kit.store.listen(freshKey(), ({ kind }) => void wakes.push(kind));

      proxy.blackHole('replies');
      // An answer may be in the socket already.
      const latest = performance.now();
      let seen = kit.store.toldUntil();
      await until(() => {
        const told = kit.store.toldUntil();
        if (told !== -Infinity) seen = told;
        return signals.length > 0;
      });
      expect(seen).toBeLessThanOrEqual(latest);
      expect(performance.now() - seen).toBeGreaterThanOrEqual(MAX_LAG);
      expect(performance.now() - seen).toBeLessThan(20 * MAX_LAG);
      expect([signals, wakes, kit.store.toldUntil()]).toEqual([['gap'], ['unknown'], -Infinity]);
      expect(kit.pushes.at(-1)).toBe(`down: no heartbeat came back for ${MAX_LAG} ms`);
      expect(kit.store.isUp()).toBe(true);

      proxy.resume();
      await until(() => kit.store.pushUp(), { what: 'another subscriber' });
      expect([signals, wakes]).toEqual([
        ['gap', 'gap'],
        ['unknown', 'unknown'],
      ]);
      await toldBeyond(kit, latest);
      await kit.store.clear('x');
      await until(() => signals.includes('epoch'), { what: 'the signal' });
    } finally {
      await Promise.all(kits.splice(0).map(({ store }) => store.close()));
      await closeProxy(proxy);
    }
  });

  it('begins anew with each subscription, at once, and a gap comes with it', async () => {
    // The next beat of its own accord would come after 15 s.
    const kit = await opened(server.url, 60_000);
    await toldBeyond(kit, -Infinity);
    const seen: [string, boolean][] = [];
    kit.store.watch(({ kind }) => void seen.push([kind, kit.store.toldUntil() === -Infinity]));
    await server.client().call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await until(() => seen.length === 2, { what: 'both gaps' });
    expect(seen).toEqual([
      ['gap', true],
      ['gap', true],
    ]);
    await until(() => kit.store.toldUntil() > -Infinity, { what: 'a proof', timeout: 10_000 });
  });

  it('proves nothing while the command connection is gone: the subscriber may sit on a former master', async () => {
    const proxy = await TcpProxy.start({ port: server.port });
    try {
      const client = server.client({ port: proxy.port, retryStrategy: () => 20 });
      const duplicate = client.duplicate.bind(client);
      client.duplicate = (override?: Partial<RedisOptions>) => duplicate({ ...override, port: server.port });
      const kit = await opened(client);
      await toldBeyond(kit, -Infinity);
      const signals: string[] = [];
      kit.store.watch(({ kind }) => void signals.push(kind));

      proxy.refuse();
      proxy.cut();
      await until(() => !kit.store.isUp());
      await until(() => kit.store.toldUntil() === -Infinity, { what: 'the doubt' });
      proxy.resume();
      await until(() => signals.length === 2, { what: 'the subscriber to follow' });
      await toldBeyond(kit, -Infinity);
      await kit.store.close();
      client.disconnect();
    } finally {
      await closeProxy(proxy);
    }
  });

  it('forgives a process that stood still itself', async () => {
    const kit = await opened(server.url);
    await toldBeyond(kit, -Infinity);
    for (let round = 0; round < 3; round++) {
      const end = performance.now() + 2 * MAX_LAG;
      while (performance.now() < end);
      await toldBeyond(kit, end);
    }
    expect(kit.pushes).toEqual(['up: subscribed']);
  });

  it('that a user may not send keeps the subscriber, proves nothing and is said once', async () => {
    const own = await RedisServer.start({ users: ['app on >secret ~* &* +@all -ping'] });
    try {
      const kit = await opened(`redis://app:secret@127.0.0.1:${own.port}`, 40);
      await until(() => {
        kit.store.toldUntil();
        return kit.warnings.length > 0;
      });
      await until(async () => ((await own.commandCounts())['ping'] ?? 0) === 0);
      for (let turn = 0; turn < 20; turn++) {
        expect(kit.store.toldUntil()).toBe(-Infinity);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      expect(kit.warnings).toEqual([expect.stringContaining('refuses the heartbeat')]);
      expect(kit.pushes).toEqual(['up: subscribed']);
    } finally {
      await Promise.all(kits.splice(0).map(({ store }) => store.close()));
      await own.stop();
    }
  });

  it('ends with the store', async () => {
    const kit = await opened(server.url);
    await toldBeyond(kit, -Infinity);
    await kit.store.close();
    expect(kit.store.toldUntil()).toBe(-Infinity);
  });
});

describe('the timing of beats', () => {
  /** Beats that the test answers. */
  function setUp() {
    const fake = createFakeRuntime();
    const sent: { readonly at: number; readonly answer: () => void; readonly refuse: (e: Error) => void }[] =
      [];
    const deaths: number[] = [];
    let overdue = true;
    const { clock } = fake.runtime;
    const heartbeat = new Heartbeat({
      runtime: fake.runtime,
      maxLag: 1000,
      send: (): Beat => {
        let answer = (): void => undefined;
        let refuse: (e: Error) => void = () => undefined;
        const answered = new Promise<void>((resolve, reject) => {
          answer = resolve;
          refuse = reject;
        });
        sent.push({ at: clock.now(), answer, refuse });
        return { answered, isOverdue: () => overdue };
      },
      onDead: () => void deaths.push(clock.now()),
    });
    return { ...fake, clock, heartbeat, sent, deaths, forgive: () => void (overdue = false) };
  }

  it('is a quarter of the lag, from the first question on', async () => {
    const { heartbeat, sent, advance, clock } = setUp();
    await advance(5000);
    expect(sent).toHaveLength(0);
    const start = clock.now();
    heartbeat.ask();
    await advance(750);
    expect(sent.map(({ at }) => at - start)).toEqual([0, 250, 500, 750]);
  });

  it('answers with the time at which the last answered beat was sent, in whatever order answers come', async () => {
    const { heartbeat, sent, advance, settle } = setUp();
    expect(heartbeat.ask()).toBe(-Infinity);
    await advance(300);
    sent[1]?.answer();
    await settle();
    expect(heartbeat.ask()).toBe(sent[1]?.at);
    sent[0]?.answer();
    await settle();
    expect(heartbeat.ask()).toBe(sent[1]?.at);
  });

  it('ends ten beats after the last question, and leaves no timer', async () => {
    const { heartbeat, sent, advance, pending, deaths } = setUp();
    heartbeat.ask();
    for (let turn = 0; turn < 100; turn++) {
      await advance(100);
      for (const { answer } of sent) answer();
    }
    expect(sent).toHaveLength(11);
    expect(pending()).toEqual({ foreground: 0, background: 0 });
    expect(deaths).toEqual([]);
    heartbeat.ask();
    expect(sent).toHaveLength(12);
  });

  it('calls the subscriber dead when a beat is not answered for the whole lag', async () => {
    const { heartbeat, sent, advance, deaths } = setUp();
    heartbeat.ask();
    await advance(999);
    expect(deaths).toEqual([]);
    await advance(1);
    expect(deaths).toEqual([(sent[0]?.at ?? 0) + 1000]);
  });

  it('does not where the answer is not the subscriber’s to give, nor where the beat was refused', async () => {
    const one = setUp();
    one.forgive();
    const other = setUp();
    for (const { heartbeat, sent, advance, deaths } of [one, other]) {
      heartbeat.ask();
      for (let turn = 0; turn < 20; turn++) {
        heartbeat.ask();
        await advance(100);
        if (deaths === other.deaths) for (const { refuse } of sent) refuse(new Error('NOPERM no right'));
      }
      expect(heartbeat.ask()).toBe(-Infinity);
      expect(deaths).toEqual([]);
    }
    expect([one.logs.length, other.logs.length]).toEqual([0, 1]);
  });

  it('forgets beats of the connection before, and begins with the next one at once', async () => {
    const { heartbeat, sent, settle, advance } = setUp();
    heartbeat.ask();
    heartbeat.gap();
    sent[0]?.answer();
    await settle();
    expect(heartbeat.ask()).toBe(-Infinity);
    await advance(10);
    heartbeat.begin();
    expect(sent).toHaveLength(2);
    sent[1]?.answer();
    await settle();
    expect(heartbeat.ask()).toBe(sent[1]?.at);
  });

  it('leaves nothing behind when it is stopped', async () => {
    const { heartbeat, pending, sent } = setUp();
    heartbeat.ask();
    heartbeat.stop();
    heartbeat.begin();
    expect(heartbeat.ask()).toBe(-Infinity);
    expect(pending()).toEqual({ foreground: 0, background: 0 });
    expect(sent).toHaveLength(1);
  });
});
