import { AsyncLocalStorage } from 'node:async_hooks';
import { LoadRejectedError, WaitTimeoutError } from '../../../lib/core/errors.js';
import type { EntryKey } from '../../../lib/core/keys/index.js';
import type { AnyPolicy } from '../../../lib/core/policy/index.js';
import type { Process } from '../../contract/cache/lab.js';
import { errorOf } from '../../contract/cache/subject.js';
import { deferred } from '../../support/deferred.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { Origin } from '../../support/origin.js';
import { MemoryLab } from './memory-lab.js';
import { atRest } from './quiet.js';
import { stateOf } from './state-of.js';
import { watchUnhandled } from './watch-unhandled.js';

const LARGE = 'x'.repeat(64 * 1_024);

describe('callers who missed together', () => {
  let lab: MemoryLab;
  let a: Process;
  let origin: Origin;
  watchUnhandled();

  beforeEach(async () => {
    lab = new MemoryLab();
    a = await lab.process();
    origin = new Origin();
  });
  afterEach(async () => {
    await lab.fake.settle();
    atRest(a.cache.stats());
    const closing = a.cache.close();
    await lab.fake.advance(10_000);
    await closing;
    if (lab.fake.pending().foreground > 0) throw new Error('a timer was left armed');
  });

  const many = (count: number, policy?: AnyPolicy, load = origin.load): Promise<unknown>[] =>
    Array.from({ length: count }, () => a.get('k', load, policy));
  const callers = (): number => a.cache.stats().active.callers;
  const outcomes = (): Record<string, number> =>
    Object.fromEntries(Object.entries(a.cache.stats().outcomes).filter(([, count]) => count > 0));
  /** Holds the lease of the key in another process, until the value is given. */
  const leaseElsewhere = async (): Promise<{ release: () => Promise<unknown> }> => {
    const other = await lab.process();
    const theirs = new Origin();
    const call = other.get('k', theirs.load);
    await theirs.started(1);
    return {
      release: async () => {
        await theirs.give('theirs');
        return call;
      },
    };
  };

  describe('one of whom loads', () => {
    it('wait for it over one ride, and get each a value of its own', async () => {
      const calls = many(5_000);
      await origin.started(1);
      expect(callers()).toBe(5_000);
      expect(lab.fake.pending().foreground).toBeLessThan(10);
      await origin.give({ list: [1] });
      const values = (await Promise.all(calls)) as { list: number[] }[];
      expect(new Set(values).size).toBe(5_000);
      values[1]?.list.push(2);
      expect(values[2]).toEqual({ list: [1] });
      expect(outcomes()).toEqual({ loaded: 1, joined: 4_999 });
      expect(a.cache.stats()).toMatchObject({ misses: 5_000, loads: { started: 1 } });
    });

    it.each([
      ['undefined', undefined],
      ['null', null],
    ])('get %s, and what is known of it', async (_, absent) => {
      const policy = { negativeTtl: 5_000 };
      const calls = many(3, policy);
      await origin.give(absent);
      expect(await Promise.all(calls)).toEqual([absent, absent, absent]);
      expect(await Promise.all(many(2, policy))).toEqual([absent, absent]);
      expect(outcomes()).toEqual({ loaded: 1, joined: 2, negative: 2 });
    });

    it('get its very error', async () => {
      const calls = many(100).map(errorOf);
      const failure = new TypeError('broken');
      await origin.fail(failure);
      expect(new Set(await Promise.all(calls))).toEqual(new Set([failure]));
      expect(outcomes()).toEqual({});
      expect(origin.starts).toBe(1);
    });

    it('nothing stands in for an error that is an answer', async () => {
      const policy = { negativeErrors: RangeError, errors: [RangeError], fallback: () => 'x' };
      const calls = many(3, policy).map(errorOf);
      await origin.fail(new RangeError('gone'));
      for (const error of await Promise.all(calls)) expect(error).toBeInstanceOf(RangeError);
    });

    it('have each their own fallback, with their own arguments and in their own context', async () => {
      const storage = new AsyncLocalStorage<number>();
      const fallback = (error: unknown, ...args: unknown[]): unknown => [args, storage.getStore()];
      const answers = [1, 2, 3].map((id) =>
        storage.run(id, async () => {
          const request = { ...a.request('k', origin.load, { fallback }), args: ['k', id] };
          const { value } = await a.cache.answer(request);
          return [value, storage.getStore()];
        }),
      );
      await origin.fail(new Error('down'));
      expect(await Promise.all(answers)).toEqual([1, 2, 3].map((id) => [[['k', id], id], id]));
      expect(outcomes()).toEqual({ fallback: 3 });
    });

    it('that calls itself fails for all of them', async () => {
      const itself = (): Promise<unknown> => a.get('k', origin.load);
      const errors = await Promise.all(many(3, {}, itself).map(errorOf));
      expect(errors).toMatchObject(errors.map(() => ({ code: 'REENTRANT_LOAD' })));
      expect(origin.starts).toBe(0);
    });

    it('do so also where the others can not read what it made', async () => {
      const serializer = {
        name: 'own',
        encode: (value: unknown) => Buffer.from(String(value)),
        decode: (bytes: Uint8Array): unknown => `own ${Buffer.from(bytes).toString()}`,
      };
      const calls = [...many(2), ...many(2, { serializer })];
      await origin.give('plain');
      expect(await Promise.all(calls.slice(0, 2))).toEqual(['plain', 'plain']);
      await origin.give('serialized');
      expect(await Promise.all(calls.slice(2))).toEqual(['own serialized', 'own serialized']);
      expect(origin.starts).toBe(2);
    });

    it('although its policy forbids it while the store is away, and theirs does not', async () => {
      class Away extends ForwardingStore {
        override async read(): Promise<never> {
          throw new Error('connection lost');
        }
        override async acquire(): Promise<never> {
          throw new Error('connection lost');
        }
      }
      a = await lab.process({}, (store) => new Away(store));
      const calls = [...many(2, { onRedisDown: 'error' }).map(errorOf), ...many(3)];
      await origin.give('v');
      const [first, second, ...rest] = await Promise.all(calls);
      expect([first, second]).toMatchObject([{ code: 'CACHE_UNAVAILABLE' }, { code: 'CACHE_UNAVAILABLE' }]);
      expect(rest).toEqual(['v', 'v', 'v']);
      expect(origin.starts).toBe(1);
    });

    it('are told when the application shuts down', async () => {
      const calls = many(3).map(errorOf);
      await origin.started(1);
      const closing = a.cache.close();
      await lab.fake.advance(10_000);
      expect(await Promise.all(calls)).toMatchObject(calls.map(() => ({ code: 'CACHE_UNAVAILABLE' })));
      await closing;
    });
  });

  describe('while a load runs that began before they came', () => {
    /** A load that a call wanted fresh: others join it only after their own miss. */
    const forced = async (): Promise<{ call: Promise<unknown> }> => {
      const call = a.get('k', origin.load, {}, { fresh: true });
      await origin.started(1);
      return { call };
    };

    it('take its value', async () => {
      const { call } = await forced();
      const calls = many(3);
      await lab.fake.settle();
      expect(callers()).toBe(4);
      await origin.give('v');
      expect(await Promise.all([call, ...calls])).toEqual(['v', 'v', 'v', 'v']);
      expect(origin.starts).toBe(1);
    });

    it('and is revoked: they join one more load', async () => {
      const { call } = await forced();
      const other = await lab.process();
      await other.invalidate('k');
      const calls = many(3);
      await lab.fake.settle();
      await origin.give('before the change');
      expect(await call).toBe('before the change');
      expect(await stateOf(lab, Promise.race(calls))).toBe('pending');
      expect(callers()).toBe(3);
      await origin.give('after it');
      expect(await Promise.all(calls)).toEqual(['after it', 'after it', 'after it']);
      expect(origin.starts).toBe(2);
    });
  });

  it('while a refresh waits behind others: it waits no longer', async () => {
    a = await lab.process({ loads: { concurrency: 4 } });
    const policy = { stale: 60_000 };
    for (const key of ['busy', 'k']) {
      await a.set(key, 'old', policy);
      await a.expire(key);
      // One refresh at once is a quarter of the slots.
      expect(await a.get(key, origin.load, policy)).toBe('old');
    }
    await origin.started(1);
    expect(a.cache.stats().active).toMatchObject({ refreshes: 2, queued: 1 });
    const calls = many(3);
    await origin.started(2);
    await origin.give('of the other');
    await origin.give('new');
    expect(await Promise.all(calls)).toEqual(['new', 'new', 'new']);
  });

  describe('and wait for another process', () => {
    it('count the time of their read as time that they waited', async () => {
      const { release } = await leaseElsewhere();
      const held = deferred();
      class Slow extends ForwardingStore {
        override async read(key: EntryKey): Promise<Buffer | null> {
          const bytes = await super.read(key);
          await held.promise;
          return bytes;
        }
      }
      a = await lab.process({}, (store) => new Slow(store));
      const calls = many(3, { waitTimeout: 50 }).map(errorOf);
      await lab.fake.advance(30);
      held.resolve();
      await lab.fake.advance(19);
      expect(await stateOf(lab, Promise.race(calls))).toBe('pending');
      await lab.fake.advance(1);
      for (const error of await Promise.all(calls)) expect(error).toBeInstanceOf(WaitTimeoutError);
      await release();
    });

    it('get its value', async () => {
      const { release } = await leaseElsewhere();
      const calls = many(3);
      await lab.fake.settle();
      await release();
      expect(await Promise.all(calls)).toEqual(['theirs', 'theirs', 'theirs']);
      expect(outcomes()).toEqual({ waited: 3 });
    });

    it.each([
      ['the shorter first', [50, 200]],
      ['the longer first', [200, 50]],
    ])('do so for as long as each of their policies says, %s', async (_, timeouts) => {
      const { release } = await leaseElsewhere();
      const ended: string[] = [];
      const calls = timeouts.flatMap((waitTimeout) =>
        many(3, { waitTimeout }).map(async (call) => {
          const error = await errorOf(call);
          expect(error).toBeInstanceOf(WaitTimeoutError);
          ended.push(`${waitTimeout} ${lab.fake.runtime.clock.now() - began}`);
        }),
      );
      const began = lab.fake.runtime.clock.now();
      await lab.fake.advance(49);
      expect(callers()).toBe(6);
      await lab.fake.advance(1);
      expect(ended).toEqual(['50 50', '50 50', '50 50']);
      expect(callers()).toBe(3);
      await lab.fake.advance(150);
      expect(ended.slice(3)).toEqual(['200 200', '200 200', '200 200']);
      expect(a.cache.stats().waitTimeouts).toBe(6);
      await Promise.all(calls);
      await release();
    });

    it("load once, past waitTimeout, with onWaitTimeout: 'load'", async () => {
      const { release } = await leaseElsewhere();
      const calls = many(5, { waitTimeout: 50, onWaitTimeout: 'load' });
      await lab.fake.advance(50);
      expect(callers()).toBe(5);
      await origin.give('ours');
      expect(await Promise.all(calls)).toEqual(Array.from({ length: 5 }, () => 'ours'));
      expect(origin.starts).toBe(1);
      await release();
    });
  });

  describe('with an old value at hand', () => {
    const strict: AnyPolicy = { stale: 0, staleIfError: 60_000 };
    let reads: number;
    class Counting extends ForwardingStore {
      override read(key: EntryKey): Promise<Buffer | null> {
        reads += 1;
        return super.read(key);
      }
    }
    const open = (options = {}): Promise<Process> => lab.process(options, (store) => new Counting(store));
    beforeEach(async () => {
      reads = 0;
      a = await open();
      await a.set('k', { list: ['old'] }, strict);
      await a.expire('k');
    });

    it('get it where the load fails, each a copy; those who may not have it get the error', async () => {
      const calls = [...many(3, strict), ...many(2).map(errorOf)];
      const failure = new Error('down');
      await origin.fail(failure);
      const values = await Promise.all(calls);
      expect(values.slice(0, 3)).toEqual(Array.from({ length: 3 }, () => ({ list: ['old'] })));
      expect(new Set(values).size).toBe(4);
      expect(values.slice(3)).toEqual([failure, failure]);
      expect(outcomes()).toEqual({ stale: 3 });
      // Theirs, and the load's look at what it replaces: nobody reads again.
      expect(reads).toBe(2);
    });

    it('get it past softTimeout, each by its own clock, and the load goes on', async () => {
      const soft = { ...strict, softTimeout: 50 };
      const calls = [...many(3, soft), ...many(2, { ...strict, softTimeout: 80 }), ...many(2)];
      await lab.fake.advance(49);
      expect(callers()).toBe(7);
      await lab.fake.advance(1);
      expect(await Promise.all(calls.slice(0, 3))).toEqual(
        Array.from({ length: 3 }, () => ({ list: ['old'] })),
      );
      expect(callers()).toBe(4);
      await lab.fake.advance(30);
      expect(callers()).toBe(2);
      await origin.give('new');
      expect(await Promise.all(calls.slice(5))).toEqual(['new', 'new']);
      await Promise.all(calls);
    });

    it('get it where too many wait already, the others LoadRejectedError', async () => {
      a = await open({ loads: { waiters: 3 } });
      const calls = [...many(5, strict), ...many(2).map(errorOf), ...many(1, { fallback: () => 'x' })];
      await lab.fake.settle();
      expect(callers()).toBe(3);
      await origin.give('new');
      const values = await Promise.all(calls);
      const [old, now] = [{ list: ['old'] }, 'new'];
      expect(values.slice(0, 5)).toEqual([now, now, now, old, old]);
      for (const error of values.slice(5, 7)) expect(error).toBeInstanceOf(LoadRejectedError);
      expect(values[7]).toBe('x');
      expect(outcomes()).toEqual({ loaded: 1, joined: 2, stale: 2, fallback: 1 });
      expect(a.cache.stats()).toMatchObject({ misses: 8, rejected: 5 });
      expect(reads).toBe(2);
    });
  });

  describe('of a large value', () => {
    it('are given their copies one after the other, and are counted until then', async () => {
      const ends: (() => void)[] = [];
      const { runtime } = lab.fake;
      const endOfTurn = (fn: () => void): void => void ends.push(fn);
      Object.assign(runtime, { timers: { ...runtime.timers, endOfTurn } });
      a = await lab.process();
      const calls = many(4);
      await origin.give(LARGE);
      await lab.fake.settle();
      for (let left = 4; left > 0; left -= 1) {
        expect(callers()).toBe(left);
        ends.shift()?.();
        await lab.fake.settle();
      }
      expect(await Promise.all(calls)).toEqual([LARGE, LARGE, LARGE, LARGE]);
    });

    it.each([
      ['stale, is refreshed', { stale: 60_000 }, 'stale'],
      ['fresh, is loaded anew', {}, 'fresh'],
    ])('that is there and, %s: they wait for nothing', async (_, policy, outcome) => {
      await a.set('k', LARGE, policy);
      if (outcome === 'stale') await a.expire('k');
      const before = outcome === 'stale' ? a.get('k', origin.load, policy) : undefined;
      const forced = outcome === 'fresh' ? a.get('k', origin.load, policy, { fresh: true }) : undefined;
      await origin.started(1);
      const calls = many(3, policy);
      expect(await stateOf(lab, Promise.all(calls))).toEqual({ value: [LARGE, LARGE, LARGE] });
      expect(outcomes()).toEqual({ [outcome]: before ? 4 : 3 });
      await origin.give('new');
      await Promise.all([before, forced]);
    });
  });

  it("with coordinate: 'none' each loads, whoever is in their company", async () => {
    const calls = [...many(2), ...many(2, { coordinate: 'none' })];
    await origin.started(3);
    // Those who ask for no lease begin first.
    for (const value of ['third', 'fourth', 'ours']) await origin.give(value);
    expect(await Promise.all(calls)).toEqual(['ours', 'ours', 'third', 'fourth']);
  });

  it('with fresh: true none takes what began before it', async () => {
    const fresh = (): Promise<unknown> => a.get('k', origin.load, {}, { fresh: true });
    const calls = [fresh(), fresh()];
    await origin.started(1);
    const later = [fresh(), fresh()];
    await lab.fake.settle();
    await origin.give('first');
    await origin.give('second');
    expect(await Promise.all([...calls, ...later])).toEqual(['first', 'first', 'second', 'second']);
  });
});
