import { LoadRejectedError } from '../../../../lib/core/errors.js';
import type { EntryKey } from '../../../../lib/core/keys/index.js';
import type { AcquireReply, AcquireRequest, Store } from '../../../../lib/core/store.js';
import type { Process } from '../../../contract/cache/lab.js';
import { errorOf } from '../../../contract/cache/subject.js';
import { deferred } from '../../../support/deferred.js';
import { ForwardingStore } from '../../../support/forwarding-store.js';
import { ManyOrigin, rowsOf } from '../../../support/many-origin.js';
import { Origin } from '../../../support/origin.js';
import { MemoryLab } from '../memory-lab.js';
import { stateOf } from '../state-of.js';
import { watchUnhandled } from '../watch-unhandled.js';

const IDLE = { flights: 0, refreshes: 0, slots: 0, queued: 0, callers: 0 };
const ABORT = { abandon: 'abort' } as const;
const BREAKER = { loads: { breaker: { minimum: 1, halfOpenAfter: 1_000 } } };
const REENTRANT = { code: 'REENTRANT_LOAD' };
const down = (): Promise<never> => Promise.reject(new Error('down'));

describe('hazards of a batch', () => {
  let lab: MemoryLab;
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });

  const open = async (options = {}, wrap?: (store: Store) => Store): Promise<Process> => {
    const process = await lab.process(options, wrap);
    process.name = '';
    return process;
  };

  it('a caller of one id that has left is not loaded for while the others still decide', async () => {
    class Slow extends ForwardingStore {
      readonly gate = deferred();
      override async acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
        if (key.id === ":'3'") await this.gate.promise;
        return this.inner.acquire(key, request);
      }
    }
    let slow!: Slow;
    const a = await open({ redisTimeout: 60_000 }, (store) => (slow = new Slow(store)));
    const [origin, controller] = [new ManyOrigin(), new AbortController()];
    const call = errorOf(a.many(['1', '2', '3'], origin.load, ABORT, { signal: controller.signal }));
    await lab.fake.settle();
    const joined = a.get('3', () => 'not loaded', ABORT);
    await lab.fake.settle();
    controller.abort();
    await call;
    await lab.fake.settle();
    slow.gate.resolve();
    await origin.give(0);
    expect(await joined).toBe('v3');
    expect(origin.asked).toEqual([['3']]);
    await lab.fake.settle();
    expect(a.cache.stats().active).toMatchObject(IDLE);
  });

  it('is not begun when all its ids were left while they decided', async () => {
    class Slow extends ForwardingStore {
      readonly gate = deferred();
      override async acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
        const reply = await this.inner.acquire(key, request);
        if (key.id === ':2') await this.gate.promise;
        return reply;
      }
    }
    let slow!: Slow;
    const a = await open({ redisTimeout: 60_000 }, (store) => (slow = new Slow(store)));
    const [origin, controller] = [new ManyOrigin(), new AbortController()];
    const call = errorOf(a.many([1, 2], origin.load, ABORT, { signal: controller.signal }));
    await lab.fake.settle();
    controller.abort();
    await call;
    slow.gate.resolve();
    await lab.fake.settle();
    expect(origin.loads).toEqual([]);
    expect(a.cache.stats().active).toMatchObject(IDLE);
  });

  it('gives its slot back when its caller leaves in the very moment in which it is granted', async () => {
    const a = await open();
    const controller = new AbortController();
    a.cache.listen(({ type }) => {
      if (type === 'miss') void Promise.resolve().then(() => controller.abort());
    });
    const load = jest.fn();
    await errorOf(a.many([1], load, {}, { signal: controller.signal }));
    await lab.fake.settle();
    expect(a.cache.stats().active).toMatchObject(IDLE);
    expect(load).not.toHaveBeenCalled();
  });

  it('loads for one caller while the fallback of another one hangs', async () => {
    const a = await open({ loads: { waiters: 1 } });
    const origin = new ManyOrigin();
    const hanging = deferred<string>();
    const call = a.many([1, 2, 3], origin.load, { fallback: () => hanging.promise });
    await origin.give(0);
    expect(origin.asked).toEqual([[1]]);
    hanging.resolve('fallback');
    expect([...(await call).values()]).toEqual(['v1', 'fallback', 'fallback']);
  });

  it('one that is told to wait again gives its slot back at once', async () => {
    class Mute extends ForwardingStore {
      override renew(): never {
        throw new Error('dead');
      }
    }
    const [a, b, dead] = [await open(), await open(), await open({}, (store) => new Mute(store))];
    const origin = new ManyOrigin();
    void dead.many([1, 2], origin.load);
    await origin.started(0);
    const calls = [a.many([1, 2], origin.load), b.many([1, 2], origin.load)];
    await lab.fake.advance(3_005);
    expect([a, b].map(({ cache }) => cache.stats().active.slots)).toEqual([1, 0]);
    await lab.fake.advance(10);
    await origin.give(1);
    expect(await Promise.all(calls)).toEqual([rowsOf([1, 2]), rowsOf([1, 2])]);
  });

  it('that has called its loader takes nobody in any more', async () => {
    const [a, b, c] = [await open(), await open(), await open()];
    const [origin, theirs] = [new ManyOrigin(), new ManyOrigin()];
    const failing = [
      errorOf(b.many([1], theirs.load, { loadTimeout: 500 })),
      errorOf(c.many([2], theirs.load, { loadTimeout: 600 })),
    ];
    await theirs.started(1);
    const call = a.many([1, 2], origin.load);
    await lab.fake.advance(550);
    expect(origin.asked).toEqual([[1]]);
    await lab.fake.advance(100);
    expect(origin.asked).toEqual([[1], [2]]);
    await origin.give(1);
    await origin.give(0);
    expect(await call).toEqual(rowsOf([1, 2]));
    await Promise.all(failing);
  });

  it('has two loads of one id where two of its callers may have one', async () => {
    const [a, b] = [await open(), await open()];
    const origin = new ManyOrigin();
    const theirs = errorOf(b.many(['1'], origin.load, { loadTimeout: 505 }));
    await origin.started(0);
    const impatient = a.many(['1'], origin.load, { waitTimeout: 500, onWaitTimeout: 'load' });
    await lab.fake.settle();
    const patient = a.get('1', () => 'not loaded');
    // Its own load comes 5 ms before the lease it waited for is given up.
    await lab.fake.advance(520);
    expect(origin.asked).toEqual([['1'], ['1'], ['1']]);
    await origin.give(1);
    await origin.give(2);
    expect([await impatient, await patient]).toEqual([rowsOf(['1']), 'v1']);
    await theirs;
    await lab.fake.settle();
    expect(a.cache.stats().active).toMatchObject(IDLE);
  });

  it('a call for one of its own ids is refused also if it wants a value of its own, and after others have left', async () => {
    const a = await open();
    const [gate, controller] = [new Origin(), new AbortController()];
    let inner: unknown;
    const load = async (ids: readonly unknown[]): Promise<Map<unknown, string>> => {
      await gate.load();
      inner = await errorOf(a.get('2', () => 'x', {}, { fresh: true }));
      return rowsOf(ids);
    };
    const call = errorOf(a.many(['1', '2'], load, ABORT, { signal: controller.signal }));
    await gate.started(1);
    const other = a.get('2', () => 'not loaded', ABORT);
    await lab.fake.settle();
    controller.abort();
    await call;
    await lab.fake.settle();
    await gate.give(undefined);
    expect(await other).toBe('v2');
    expect(inner).toMatchObject(REENTRANT);
  });

  it('runs on the slot of a load that waits for one of its ids', async () => {
    const a = await open({ loads: { concurrency: 1 } });
    const [holding, origin] = [new Origin(), new ManyOrigin()];
    const outer = a.get('outer', async () => {
      await holding.load();
      return a.get('2', () => 'not loaded');
    });
    await holding.started(1);
    const call = a.many(['1', '2'], origin.load);
    await lab.fake.settle();
    expect(a.cache.stats().active).toMatchObject({ slots: 1, queued: 1 });
    await holding.give(undefined);
    await origin.give(0);
    expect([await outer, await call]).toEqual(['v2', rowsOf(['1', '2'])]);
    await lab.fake.settle();
    expect(a.cache.stats().active).toMatchObject(IDLE);
  });

  it('of refreshes goes before what came later, when a caller waits for one of them', async () => {
    const policy = { ttl: 1_000, stale: 60_000 };
    const a = await open({ loads: { concurrency: 1 } });
    await a.many(['1', '2'], (ids) => rowsOf(ids), policy);
    await lab.fake.advance(1_100);
    const [holding, origin, later] = [new Origin(), new ManyOrigin(), new Origin()];
    const holder = a.get('k', holding.load);
    await holding.started(1);
    await a.many(['1', '2'], origin.load, policy);
    await lab.fake.settle();
    const strict = a.get('2', () => 'not loaded', policy, { maxStale: 0 });
    await lab.fake.settle();
    const behind = a.get('later', later.load);
    await lab.fake.settle();
    await holding.give('v');
    await holder;
    (await origin.started(0)).resolve(new Map([['2', 'new']]));
    expect(later.starts).toBe(0);
    expect(await strict).toBe('new');
    await later.give('v');
    await behind;
  });

  describe('at the breaker', () => {
    it('hands the trial on when it is aborted', async () => {
      const a = await open(BREAKER);
      await errorOf(a.get('k', down));
      await lab.fake.advance(1_000);
      const [origin, controller] = [new ManyOrigin(), new AbortController()];
      const call = errorOf(a.many([1, 2], origin.load, ABORT, { signal: controller.signal }));
      await origin.started(0);
      controller.abort();
      await call;
      await lab.fake.settle();
      expect(await a.get('next', () => 'v')).toBe('v');
    });

    it('is still the one that tries while one of its ids is wanted', async () => {
      const a = await open(BREAKER);
      await errorOf(a.get('k', down));
      await lab.fake.advance(1_000);
      const [origin, controller] = [new ManyOrigin(), new AbortController()];
      const call = errorOf(a.many(['1', '2'], origin.load, ABORT, { signal: controller.signal }));
      await origin.started(0);
      const other = a.get('2', () => 'not loaded', ABORT);
      await lab.fake.settle();
      controller.abort();
      await call;
      await lab.fake.settle();
      expect(await errorOf(a.get('next', () => 'v'))).toMatchObject({ code: 'LOAD_REJECTED' });
      await origin.give(0);
      expect(await other).toBe('v2');
      await lab.fake.settle();
      expect(a.cache.stats().pools).toMatchObject({ default: { breaker: 'closed' } });
    });

    it.each([
      ['a failure of the load around it', down, 'open'],
      ['nothing, where it was withheld', (): Promise<never> => Promise.reject(shed()), 'closed'],
    ])('its failure is %s', async (_, load, breaker) => {
      const a = await open({ loads: { breaker: { minimum: 1 }, pools: { rows: { breaker: false } } } });
      await errorOf(a.get('outer', () => a.many([1, 2], load, { pool: 'rows' })));
      await lab.fake.settle();
      expect(a.cache.stats().pools).toMatchObject({ default: { breaker } });
    });
  });

  it('a store that closes under it leaves nobody waiting', async () => {
    const a = await open();
    const origin = new ManyOrigin();
    const call = errorOf(a.many([1, 2], origin.load));
    await origin.started(0);
    const closing = a.close();
    await lab.fake.advance(7_000);
    await closing;
    expect(await stateOf(lab, call)).toMatchObject({ value: { cause: { code: 'CACHE_UNAVAILABLE' } } });
    expect(origin.loads[0]?.ctx.signal.aborted).toBe(true);
  });
});

function shed(): Error {
  return new LoadRejectedError('no slot', 1_000);
}
