import { Advice } from '../../../lib/core/advice.js';
import type { EntryKey } from '../../../lib/core/keys/index.js';
import type { AcquireReply, AcquireRequest, Wake } from '../../../lib/core/store.js';
import { EntryTable } from '../../../lib/memory/entry-table.js';
import { LeaseTable } from '../../../lib/memory/lease-table.js';
import { Sweeper } from '../../../lib/memory/sweeper.js';
import { deferred } from '../../support/deferred.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { Origin } from '../../support/origin.js';
import { MemoryLab } from './memory-lab.js';
import { stateOf } from './state-of.js';

describe('more hazards of the core', () => {
  let lab: MemoryLab;
  const unhandled: unknown[] = [];
  const on = (reason: unknown): void => void unhandled.push(reason);
  beforeAll(() => void process.on('unhandledRejection', on));
  afterAll(() => void process.off('unhandledRejection', on));
  beforeEach(() => {
    lab = new MemoryLab();
    unhandled.length = 0;
  });

  it('the sweeper reaches the leases although many entries are used all the time', async () => {
    const { runtime } = lab.fake;
    const now = (): number => runtime.clock.now();
    const entries = new EntryTable(10_000, 1e9);
    const leases = new LeaseTable();
    const sweeper = new Sweeper(runtime, [entries, leases], now);
    for (let i = 0; i < 6_000; i++) entries.set(`e${i}`, { bytes: Buffer.alloc(8), expiresAt: Infinity });
    leases.set('l', {
      state: 'held',
      token: 't',
      holder: 'h',
      since: 0,
      contended: false,
      expiresAt: now() + 10,
      failures: 0,
    });
    sweeper.start();
    for (let second = 0; second < 60; second++) {
      for (let i = 0; i < 6_000; i++) entries.use(`e${i}`, now());
      await lab.fake.advance(1_000);
    }
    sweeper.stop();

    expect(leases.size).toBe(0);
  });

  it("a leader's onRedisDown: 'error' does not keep a joiner with 'load' from the origin", async () => {
    class NoLease extends ForwardingStore {
      readonly gate = deferred();
      override async acquire(): Promise<AcquireReply> {
        await this.gate.promise;
        throw new Error('connection lost');
      }
    }
    let ill!: NoLease;
    const a = await lab.process({}, (store) => (ill = new NoLease(store)));
    const strict = a.get('k', () => 'x', { onRedisDown: 'error' }).catch(() => undefined);
    await lab.fake.settle();
    const lax = a.get('k', () => 'v', { onRedisDown: 'load' });
    await lab.fake.settle();
    ill.gate.resolve();
    await strict;

    expect(await stateOf(lab, lax)).toEqual({ value: 'v' });
  });

  it('mayExist that rejects does not fail a call whose load would succeed', async () => {
    const a = await lab.process();
    const call = a.get('k', () => 'v', {
      mayExist: () => Promise.reject(new Error('filter down')),
      fallback: () => 'fallback',
    } as never);

    expect(await stateOf(lab, call)).toMatchObject({ value: expect.anything() as unknown });
  });

  it('a signal ends a call whose mayExist hangs', async () => {
    const a = await lab.process();
    const controller = new AbortController();
    const call = a.get('k', () => 'v', { mayExist: () => new Promise(() => undefined) } as never, {
      signal: controller.signal,
    });
    await lab.fake.settle();
    controller.abort(new Error('gone'));
    await lab.fake.advance(60_000);

    expect(await stateOf(lab, call)).toEqual({ error: 'Error: gone' });
  });

  it('a value within `stale` stands in for a failed load also with staleIfError: 0', async () => {
    const a = await lab.process();
    const policy = { ttl: 50, stale: 60_000, staleIfError: 0 };
    await a.get('k', () => 'v1', policy);
    await lab.fake.advance(60);
    const origin = new Origin();
    const strict = a.get('k', origin.load, policy, { maxStale: 0 }).catch(() => undefined);
    await origin.started(1);
    const lax = a.get('k', origin.load, policy);
    await lab.fake.settle();
    await origin.fail(new Error('down'));
    await strict;

    expect(await stateOf(lab, lax)).toEqual({ value: 'v1' });
  });

  it('set with a ttl() that throws or answers nonsense is not silent, and drops the old entry', async () => {
    const a = await lab.process();
    await a.set('k', 'old');
    const before = lab.warnings.length;
    const state = await stateOf(lab, a.set('k', 'new', { ttl: (() => 'soon') as never }));

    expect({ state, warned: lab.warnings.length > before, held: await a.inspect('k') }).toMatchObject({
      state: { value: undefined },
      warned: true,
      held: null,
    });
  });

  it('inspect of a store that is away rejects with an error of this package', async () => {
    class Away extends ForwardingStore {
      override async peek(): Promise<never> {
        throw new Error('connection lost');
      }
    }
    const a = await lab.process({}, (store) => new Away(store));
    const error: unknown = await a.inspect('k').catch((thrown: unknown) => thrown);

    expect(error).toHaveProperty('code');
  });

  it('a refresh is not ended by the signal of the request that triggered it (`with`)', async () => {
    const a = await lab.process();
    const policy = { ttl: 50, stale: 60_000 };
    const [inner, controller] = [new Origin(), new AbortController()];
    const outer = (): Promise<unknown> => a.get('inner', inner.load);
    await a.get('outer', () => 'v1', policy);
    await lab.fake.advance(60);
    await a.cache.requests.with({ signal: controller.signal }, () => a.get('outer', outer, policy));
    await inner.started(1);
    controller.abort(new Error('client gone'));
    await lab.fake.settle();
    await inner.give('v2');
    await lab.fake.settle();

    expect(a.types()).not.toContain('load.error');
    expect((await a.peek('outer', policy))?.value).toBe('v2');
  });

  it('a mark of another load (notModified) leaves no lease behind', async () => {
    const a = await lab.process();
    const policy = { ttl: 50, stale: 60_000 };
    await a.get('old', () => 'v1', policy);
    await lab.fake.advance(60);
    let mark: unknown;
    await a.get('old', (ctx) => (mark = ctx.notModified()), policy);
    await lab.fake.settle();
    await stateOf(
      lab,
      a.get('k', () => mark),
    );

    expect(await a.inspect('k')).toBeNull();
  });

  it('a serializer that fails on its second reading leaves no lease behind', async () => {
    const a = await lab.process();
    let reads = 0;
    const serializer = {
      name: 'shaky',
      encode: (value: unknown) => Buffer.from(JSON.stringify(value)),
      decode: (bytes: Uint8Array): unknown => {
        reads += 1;
        if (reads === 4) throw new Error('shaky');
        return JSON.parse(Buffer.from(bytes).toString());
      },
    };
    const policy = { ttl: 50, stale: 0, staleIfError: 60_000, serializer };
    await a.get('k', () => 'v1', policy);
    await lab.fake.advance(60);
    reads = 2;
    await stateOf(
      lab,
      a.get('k', (ctx) => ctx.notModified(), policy),
    );

    expect((await a.inspect('k'))?.lease).toBeUndefined();
  });

  it('advice that repeats is not silenced for ever by a thousand other places', async () => {
    const advice = new Advice(lab.fake.runtime);
    for (let i = 0; i < 1_000; i++) advice.sometimes(`place ${i}`, () => `place ${i}`);
    await lab.fake.advance(120_000);
    const before = lab.warnings.length;
    advice.sometimes('place 1', () => 'again');

    expect(lab.warnings.length).toBe(before + 1);
  });

  it('foreign, early and duplicate wake-ups cost questions, not loads or errors', async () => {
    const listeners = new Set<(wake: Wake) => void>();
    class Noisy extends ForwardingStore {
      override listen(key: EntryKey, onWake: (wake: Wake) => void): () => void {
        listeners.add(onWake);
        const stop = super.listen(key, onWake);
        return () => (listeners.delete(onWake), stop());
      }
    }
    const [a, b] = [await lab.process({}, (store) => new Noisy(store)), await lab.process()];
    const origin = new Origin();
    const lead = b.get('k', origin.load);
    await origin.started(1);
    const call = a.entry('k', () => 'mine');
    await lab.fake.settle();
    const wakes: Wake[] = [
      { kind: 'ended', token: 'foreign', outcome: 'u' },
      { kind: 'unknown' },
      { kind: 'published' },
      { kind: 'invalidated' },
      { kind: 'ended', token: 'foreign', outcome: 'garbage' },
    ];
    for (const wake of [...wakes, ...wakes]) {
      for (const listener of [...listeners]) listener(wake);
      await lab.fake.settle();
    }
    const state = await stateOf(lab, call);
    await origin.give('v');
    await lead;

    expect(state).toBe('pending');
    expect(await call).toMatchObject({ value: 'v', outcome: 'waited' });
    expect(listeners.size).toBe(0);
    expect(a.cache.stats().loads.started).toBe(0);
  });

  it('a push that dies while waiting and comes back wakes, polls and leaks nothing', async () => {
    let up = true;
    const wakeAll = new Set<(wake: Wake) => void>();
    class Flaky extends ForwardingStore {
      override pushUp(): boolean {
        return up;
      }
      override listen(key: EntryKey, onWake: (wake: Wake) => void): () => void {
        const own = (wake: Wake): void => (wake.kind === 'unknown' || up ? onWake(wake) : undefined);
        wakeAll.add(own);
        const stop = super.listen(key, own);
        return () => (wakeAll.delete(own), stop());
      }
      override acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
        return super.acquire(key, request);
      }
    }
    const [a, b] = [await lab.process({}, (store) => new Flaky(store)), await lab.process()];
    const origin = new Origin();
    const lead = b.get('k', origin.load);
    await origin.started(1);
    const call = a.entry('k', () => 'mine');
    await lab.fake.settle();
    for (const state of [false, true, false]) {
      up = state;
      for (const listener of [...wakeAll]) listener({ kind: 'unknown' });
      await lab.fake.advance(150);
    }
    await origin.give('v');
    await lead;
    await lab.fake.advance(200);

    expect(await stateOf(lab, call)).toMatchObject({ value: { value: 'v' } });
    expect(wakeAll.size).toBe(0);
  });

  it('distinct keys leave nothing in any map once their calls are over', async () => {
    const a = await lab.process({ loads: { breaker: false } });
    const policy = { ttl: 50, stale: 50 };
    for (let i = 0; i < 300; i++) {
      await a.get(`k${i}`, () => (i % 3 === 0 ? null : i), policy);
      await a.get(`f${i}`, () => Promise.reject(new Error('x')), policy).catch(() => undefined);
    }
    await lab.fake.advance(60);
    for (let i = 0; i < 300; i++)
      await a.get(`k${i}`, () => Promise.reject(new Error('x')), policy).catch(() => 0);
    await lab.fake.advance(60_000);
    const sizes: Record<string, number> = {};
    const walk = (value: unknown, path: string, seen: Set<unknown>): void => {
      if (typeof value !== 'object' || value === null || seen.has(value) || Buffer.isBuffer(value)) return;
      seen.add(value);
      if (value instanceof Map || value instanceof Set) {
        if (value.size > 5) sizes[path] = value.size;
        return;
      }
      for (const [name, item] of Object.entries(value)) walk(item, `${path}.${name}`, seen);
    };
    walk(a.cache, 'cache', new Set());
    expect(sizes).toEqual({});
  });

  it.each(['queued', 'acquiring', 'waiting', 'loading', 'committing', 'reading'])(
    'close() while a call is %s answers it and leaves nothing',
    async (phase) => {
      const hold = deferred();
      class Held extends ForwardingStore {
        override async read(key: EntryKey): Promise<Buffer | null> {
          if (phase === 'reading') await hold.promise;
          return super.read(key);
        }
        override async acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
          if (phase === 'acquiring') await hold.promise;
          return super.acquire(key, request);
        }
        override async commit(
          ...args: Parameters<ForwardingStore['commit']>
        ): ReturnType<ForwardingStore['commit']> {
          if (phase === 'committing') await hold.promise;
          return super.commit(...args);
        }
      }
      const a = await lab.process(
        { loads: { concurrency: 1, queueTimeout: 60_000 }, redisTimeout: 60_000 },
        (store) => new Held(store),
      );
      const b = await lab.process();
      const [busy, theirs, mine] = [new Origin(), new Origin(), new Origin()];
      const others: Promise<unknown>[] = [];
      if (phase === 'queued') others.push(a.get('busy', busy.load).catch(() => 0));
      if (phase === 'waiting') others.push(b.get('k', theirs.load).catch(() => 0));
      await lab.fake.settle();
      const call = a.get('k', mine.load);
      call.catch(() => undefined);
      await lab.fake.settle();
      if (phase === 'committing') await mine.give('v');
      await lab.fake.settle();
      const closing = a.close();
      await lab.fake.advance(7_000);
      await closing;
      await lab.store.close();
      hold.resolve();
      await lab.fake.advance(2_000);
      while (mine.running > 0) await mine.give('v');
      await lab.fake.advance(40_000);
      const state = await stateOf(lab, call);

      expect({ state, active: a.cache.stats().active }).toMatchObject({
        state: expect.anything() as unknown,
        active: { flights: 0, refreshes: 0, slots: 0, queued: 0, callers: 0 },
      });
      expect(state).not.toBe('pending');
      expect(unhandled).toEqual([]);
    },
  );

  it('negative entries with stale windows are never served past their ttl', async () => {
    const a = await lab.process();
    const policy = { ttl: 60_000, stale: 60_000, staleIfError: 60_000, negativeTtl: 50 };
    await a.get('k', () => null, policy);
    await lab.fake.advance(60);

    expect(
      await stateOf(
        lab,
        a.get('k', () => Promise.reject(new Error('down')), policy),
      ),
    ).toEqual({
      error: 'Error: down',
    });
  });

  it('a ttl of 1 ms, jitter 1 and waitTimeout 0 answer', async () => {
    const a = await lab.process();
    for (const policy of [
      { ttl: 1 },
      { ttl: 50, jitter: 1 },
      { ttl: 50, waitTimeout: 0 },
      { ttl: 50, lease: 1 },
    ]) {
      expect(await a.get(JSON.stringify(policy), () => 'v', policy)).toBe('v');
    }
  });

  it('a call that joins a running flight under coordinate none still reads first', async () => {
    const a = await lab.process();
    await a.set('k', 'cached');
    const origin = new Origin();
    const forced = a.get('k', origin.load, {}, { fresh: true });
    await origin.started(1);
    let loads = 0;
    const plain = await stateOf(
      lab,
      a.get('k', () => ((loads += 1), 'own'), { coordinate: 'none' }),
    );
    await origin.give('v');
    await forced;

    expect({ plain, loads }).toEqual({ plain: { value: 'cached' }, loads: 0 });
  });

  it('loadTimeout: nobody joins the load that is being abandoned', async () => {
    const a = await lab.process();
    let again: Promise<unknown> | undefined;
    const call = a.get(
      'k',
      (ctx) =>
        new Promise(() => {
          ctx.signal.addEventListener('abort', () => {
            again = a.get('k', () => 'second');
          });
        }),
      { loadTimeout: 50 },
    );
    call.catch(() => undefined);
    await lab.fake.settle();
    await lab.fake.advance(60);

    expect(await stateOf(lab, again as Promise<unknown>)).toEqual({ value: 'second' });
  });

  it('a shutdown ends a hung load for its leader and its joiners alike, and nobody begins another', async () => {
    const a = await lab.process();
    const origin = new Origin();
    const policy = { loadTimeout: 60_000 };
    const calls = [a.get('k', origin.load, policy)];
    await origin.started(1);
    calls.push(a.get('k', origin.load, policy));
    const errors = Promise.all(calls.map((call) => call.catch((error: unknown) => error)));
    await lab.fake.settle();
    const closing = a.close();
    await lab.fake.advance(7_000);
    await closing;

    expect(await errors).toEqual([
      expect.objectContaining({ code: 'CACHE_UNAVAILABLE', statusCode: 503 }),
      expect.objectContaining({ code: 'CACHE_UNAVAILABLE', statusCode: 503 }),
    ]);
    expect(origin.starts).toBe(1);
  });
});
