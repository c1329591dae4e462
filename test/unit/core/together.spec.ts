import { LoadRejectedError, WaitTimeoutError } from '../../../lib/core/errors.js';
import type { EntryKey } from '../../../lib/core/keys/index.js';
import { nothing } from '../../../lib/core/nothing.js';
import type { AnyPolicy } from '../../../lib/core/policy/index.js';
import { errorOf } from '../../contract/cache/subject.js';
import { deferred } from '../../support/deferred.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { Origin } from '../../support/origin.js';
import { MemoryLab } from './memory-lab.js';
import { atRest, Quiet, SHARED, shares } from './quiet.js';
import { stateOf } from './state-of.js';
import { watchUnhandled } from './watch-unhandled.js';

const never = (): never => {
  throw new Error('nothing was to be loaded');
};

/** Counts its reads; fails them where it is told to. */
class CountingStore extends ForwardingStore {
  reads = 0;
  fails = false;
  override async read(key: EntryKey): Promise<Buffer | null> {
    this.reads += 1;
    if (this.fails) throw new Error('connection lost');
    return super.read(key);
  }
}

describe('callers of one turn who share one frozen value', () => {
  let lab: MemoryLab;
  let store: CountingStore;
  let quiet: Quiet;
  watchUnhandled();

  const open = (options = {}) => Quiet.open(lab, options, (inner) => (store = new CountingStore(inner)));
  beforeEach(async () => {
    lab = new MemoryLab();
    quiet = await open();
  });
  afterEach(() => atRest(quiet.cache.stats()));

  /** All have one promise. Returns it. */
  const one = (promises: readonly Promise<unknown>[]): Promise<unknown> => {
    expect(new Set(promises).size).toBe(1);
    return promises[0] as Promise<unknown>;
  };

  describe('that is there', () => {
    it('get one promise for one read, and count as so many hits', async () => {
      await quiet.set('k', { list: [1] });
      const value = (await one(quiet.many(5_000, 'k', never))) as { list: number[] };
      expect(store.reads).toBe(1);
      expect(quiet.outcomes).toEqual({ fresh: 5_000 });
      expect(() => value.list.push(2)).toThrow(TypeError);
    });

    it('those of the next turn ask anew', async () => {
      await quiet.set('k', 'old');
      const first = quiet.get('k', never);
      await first;
      await quiet.set('k', 'new');
      const second = quiet.get('k', never);
      expect(second).not.toBe(first);
      expect([await first, await second]).toEqual(['old', 'new']);
    });

    it('of each key and of each policy their own', async () => {
      await quiet.set('a', 'of a');
      await quiet.set('b', 'of b');
      const other = shares({ stale: 1_000 });
      const calls = [quiet.get('a', never), quiet.get('b', never), quiet.get('a', never, other)];
      expect(new Set(calls).size).toBe(3);
      expect(await Promise.all(calls)).toEqual(['of a', 'of b', 'of a']);
      expect(quiet.outcomes).toEqual({ fresh: 3 });
    });

    it.each([
      ['undefined', undefined],
      ['null', null],
    ])('be it %s', async (_, absent) => {
      const policy = shares({ negativeTtl: 5_000 });
      expect(await one(quiet.many(3, 'k', () => absent, policy))).toBe(absent);
      expect(await one(quiet.many(4, 'k', never, policy))).toBe(absent);
      expect(quiet.outcomes).toEqual({ loaded: 1, joined: 2, negative: 4 });
      await lab.fake.advance(5_000);
      expect(await one(quiet.many(2, 'k', () => 'there now', policy))).toBe('there now');
    });

    it('be it stale: one refresh', async () => {
      const policy = shares({ stale: 60_000 });
      await quiet.set('k', 'old', policy);
      await quiet.expire('k');
      const load = jest.fn(() => 'new');
      expect(await one(quiet.many(10, 'k', load, policy))).toBe('old');
      expect(quiet.outcomes).toEqual({ stale: 10 });
      await lab.fake.settle();
      expect(load).toHaveBeenCalledTimes(1);
      expect(await quiet.get('k', never, policy)).toBe('new');
    });

    it('be it refreshed early: they draw once, and one of them set it off', async () => {
      const policy = shares({ ttl: 1_000, earlyRefresh: { window: 500 } });
      await quiet.set('k', 'old', policy);
      await lab.fake.advance(600);
      // Due with 0.2 of the window over: one of them draws 0.85 as the greatest of ten whose greatest has the share 0.2.
      const draw = jest.fn(() => 0.85 ** 10);
      lab.fake.setRandom(draw);
      const load = jest.fn(() => 'new');
      expect(await one(quiet.many(10, 'k', load, policy))).toBe('old');
      expect(quiet.outcomes).toEqual({ early: 1, fresh: 9 });
      expect(draw).toHaveBeenCalledTimes(1);
      await lab.fake.settle();
      expect(load).toHaveBeenCalledTimes(1);
    });
  });

  describe('that is to be loaded', () => {
    it('wait for one load as one caller; one led, the others joined', async () => {
      const origin = new Origin();
      const value = one(quiet.many(20, 'k', origin.load));
      await origin.started(1);
      expect(quiet.cache.stats().active.callers).toBe(1);
      await origin.give({ n: 1 });
      expect(await value).toEqual({ n: 1 });
      expect(Object.isFrozen(await value)).toBe(true);
      expect(quiet.cache.stats()).toMatchObject({ misses: 20, loads: { started: 1, succeeded: 1 } });
      expect(quiet.outcomes).toEqual({ loaded: 1, joined: 19 });
    });

    it('those who come while it runs wait for it, too', async () => {
      const origin = new Origin();
      const first = quiet.many(2, 'k', origin.load);
      await origin.started(1);
      const later = quiet.many(2, 'k', origin.load);
      expect(later[0]).not.toBe(first[0]);
      await origin.give('v');
      expect(await Promise.all([...first, ...later])).toEqual(['v', 'v', 'v', 'v']);
      expect(origin.starts).toBe(1);
      expect(quiet.cache.stats().misses).toBe(4);
    });

    it('in another process: all waited', async () => {
      const other = await lab.process();
      const origin = new Origin();
      const theirs = other.get('k', origin.load, {});
      other.name = '';
      const first = other.get('n', origin.load, {});
      await origin.started(2);
      const value = one(quiet.many(3, 'n', never));
      await lab.fake.settle();
      await origin.give('theirs');
      await origin.give('ours');
      expect([await theirs, await first, await value]).toEqual(['theirs', 'ours', 'ours']);
      expect(quiet.outcomes).toEqual({ waited: 3 });
    });

    it('without a store that answers', async () => {
      store.fails = true;
      expect(await one(quiet.many(3, 'k', () => 'v'))).toBe('v');
      expect(quiet.outcomes).toEqual({ loaded: 1, joined: 2 });
      expect(quiet.cache.stats().misses).toBe(3);
    });

    it('by a load that calls the cache itself', async () => {
      const inner = jest.fn(() => 'inner');
      const load = async (): Promise<unknown> => [await quiet.get('i', inner), await quiet.get('i', inner)];
      expect(await one(quiet.many(3, 'k', load))).toEqual(['inner', 'inner']);
      expect(inner).toHaveBeenCalledTimes(1);
      const itself = async (): Promise<unknown> => quiet.get('r', never);
      const errors = quiet.many(3, 'r', itself).map(errorOf);
      expect(await Promise.all(errors)).toMatchObject(
        Array.from({ length: 3 }, () => ({ code: 'REENTRANT_LOAD' })),
      );
    });
  });

  describe('that can not be had', () => {
    it('get the very error, and the next turn loads again', async () => {
      const failure = new Error('broken');
      const calls = quiet.many(3, 'k', () => Promise.reject(failure));
      expect(await Promise.all(calls.map(errorOf))).toEqual([failure, failure, failure]);
      expect(await errorOf(one(calls))).toBe(failure);
      expect(quiet.outcomes).toEqual({});
      expect(quiet.cache.stats()).toMatchObject({ misses: 3, loads: { started: 1, failed: 1 } });
      expect(await quiet.get('k', () => 'well')).toBe('well');
    });

    it('the error that is stored, too', async () => {
      const policy = shares({ negativeErrors: RangeError, errors: [RangeError], negativeTtl: 5_000 });
      const failing = quiet.many(2, 'k', () => Promise.reject(new RangeError('gone')), policy);
      await Promise.all(failing.map(errorOf));
      const again = quiet.many(4, 'k', never, policy);
      expect(await errorOf(one(again))).toBeInstanceOf(RangeError);
      expect(quiet.outcomes).toEqual({ negative: 4 });
    });

    it('the old value, within staleIfError', async () => {
      const policy = shares({ staleIfError: 60_000 });
      await quiet.set('k', 'old', policy);
      await quiet.expire('k');
      expect(await one(quiet.many(3, 'k', () => Promise.reject(new Error('down')), policy))).toBe('old');
      expect(quiet.outcomes).toEqual({ stale: 3 });
      expect(quiet.cache.stats().misses).toBe(3);
    });

    it('the old value past softTimeout, while the load goes on', async () => {
      const policy = shares({ staleIfError: 60_000, softTimeout: 100 });
      await quiet.set('k', 'old', policy);
      await quiet.expire('k');
      const origin = new Origin();
      const value = one(quiet.many(3, 'k', origin.load, policy));
      await lab.fake.advance(99);
      expect(await stateOf(lab, value)).toBe('pending');
      await lab.fake.advance(1);
      expect(await value).toBe('old');
      expect(quiet.outcomes).toEqual({ stale: 3 });
      await origin.give('new');
      await lab.fake.settle();
      expect(await quiet.get('k', never, policy)).toBe('new');
    });

    it.each<['error' | 'load', unknown]>([
      ['error', expect.any(WaitTimeoutError)],
      ['load', 'ours'],
    ])("waitTimeout over, with onWaitTimeout: '%s'", async (onWaitTimeout, expected) => {
      const other = await lab.process();
      other.name = '';
      const origin = new Origin();
      const theirs = other.get('k', origin.load);
      await origin.started(1);
      const load = jest.fn(() => 'ours');
      const value = one(quiet.many(3, 'k', load, shares({ waitTimeout: 50, onWaitTimeout })));
      const seen = value.catch((error: unknown) => error);
      await lab.fake.advance(49);
      expect(await stateOf(lab, seen)).toBe('pending');
      await lab.fake.advance(1);
      expect(await seen).toEqual(expected);
      expect(load).toHaveBeenCalledTimes(onWaitTimeout === 'load' ? 1 : 0);
      await origin.give('theirs');
      await theirs;
    });

    it('LoadRejectedError where too many wait: they are one of them', async () => {
      quiet = await open({ loads: { waiters: 2 } });
      const origin = new Origin();
      const shed = ['a', 'b', 'c'].map((key) => one(quiet.many(5, key, origin.load)));
      expect(await errorOf(shed[2] as Promise<unknown>)).toBeInstanceOf(LoadRejectedError);
      await origin.give(1);
      await origin.give(2);
      expect(await Promise.all(shed.slice(0, 2))).toEqual([1, 2]);
    });

    it('what the fallback gives each: it is no cached value, and nobody froze it', async () => {
      const fallback = (): unknown => ({ degraded: true });
      const values = await Promise.all(
        quiet.many(3, 'k', () => Promise.reject(new Error('down')), shares({ fallback })),
      );
      expect(values).toEqual(Array.from({ length: 3 }, () => ({ degraded: true })));
      expect(new Set(values).size).toBe(3);
      expect(quiet.outcomes).toEqual({ fallback: 3 });
    });
  });

  describe('do not share', () => {
    const together = (policy: AnyPolicy, call?: object) =>
      quiet.cache.together(
        quiet.request('k', () => 'v', policy, call),
        nothing,
      );

    it.each<[string, AnyPolicy]>([
      ['copies of their own', { shared: false }],
      ['loads of their own', { coordinate: 'none' }],
      ['a fallback', { fallback: () => 'x' }],
      ['what may not exist', { mayExist: () => true }],
    ])('%s', (_, policy) => {
      expect(together(shares(policy))).toBeUndefined();
      expect(together(SHARED)).toBeDefined();
    });

    it.each([
      ['a signal', { signal: new AbortController().signal }],
      ['a load after the call', { fresh: true }],
      ['a way past the cache', { bypass: true }],
      ['an age', { maxStale: 5 }],
    ])('%s of the call', (_, call) => {
      expect(together(SHARED, call)).toBeUndefined();
    });

    it('what others listen to, whoever came first', async () => {
      await quiet.set('k', 'v');
      const first = quiet.get('k', never);
      const hits: unknown[] = [];
      const stop = quiet.cache.listen((event) => void hits.push(event.type));
      const second = quiet.get('k', never);
      const third = quiet.get('k', never);
      expect(new Set([first, second, third]).size).toBe(3);
      expect(await Promise.all([first, second, third])).toEqual(['v', 'v', 'v']);
      expect(hits).toEqual(['hit', 'hit', 'hit']);
      stop();
    });

    it('what is asked for inside with(…), or inside a load', async () => {
      await quiet.set('k', 'v');
      const gate = deferred();
      const shared: unknown[] = [];
      const inside = quiet.get('outer', async () => {
        await gate.promise;
        const mine = quiet.get('k', never);
        shared.push(mine === first, mine === quiet.get('k', never));
        return mine;
      });
      await lab.fake.settle();
      const first = quiet.get('k', never);
      gate.resolve();
      const around = quiet.cache.requests.with({ bypass: true }, () => quiet.get('k', () => 'past'));
      expect(around).not.toBe(first);
      expect(await Promise.all([first, around, inside])).toEqual(['v', 'past', 'v']);
      expect(shared).toEqual([false, false]);
    });

    it('once the cache is closed: who came before is answered, who comes after goes to the origin', async () => {
      await quiet.set('k', 'v');
      const first = quiet.get('k', never);
      const closing = quiet.cache.close();
      const second = quiet.get('k', () => 'origin');
      expect(await second).toBe('origin');
      expect(['v', 'origin']).toContain(await first);
      await lab.fake.advance(10_000);
      await closing;
    });
  });
});
