import type { EntryKey } from '../../../../lib/core/keys/index.js';
import type { AcquireReply, AcquireRequest } from '../../../../lib/core/store.js';
import { deferred } from '../../../support/deferred.js';
import { ForwardingStore } from '../../../support/forwarding-store.js';
import { ManyOrigin, rowsOf } from '../../../support/many-origin.js';
import { MemoryLab } from '../memory-lab.js';
import { watchUnhandled } from '../watch-unhandled.js';

const QUIET = { active: { flights: 0, refreshes: 0, slots: 0, queued: 0, callers: 0 } };

/** The question for the lease of one key waits for the test. */
class SlowFor extends ForwardingStore {
  readonly gate = deferred();

  constructor(
    inner: ForwardingStore['inner'],
    private readonly id: string,
  ) {
    super(inner);
  }

  override async acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
    if (key.id === this.id) await this.gate.promise;
    return this.inner.acquire(key, request);
  }
}

describe('what a call for many loads', () => {
  let lab: MemoryLab;
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });

  it('is one call for all that is missing, in their order; the answer has the order of the ids, each once', async () => {
    const a = await lab.process();
    const origin = new ManyOrigin();
    const first = a.many([5, 3], origin.load);
    await origin.give(0);
    await first;
    const call = a.many([4, 3, 9, 4, 1, 5, 9], origin.load);
    await origin.give(1);

    expect([...(await call)]).toEqual([
      [4, 'v4'],
      [3, 'v3'],
      [9, 'v9'],
      [1, 'v1'],
      [5, 'v5'],
    ]);
    expect(origin.asked).toEqual([
      [5, 3],
      [4, 9, 1],
    ]);
    await lab.fake.settle();
    expect(a.cache.stats()).toMatchObject({ ...QUIET, outcomes: { fresh: 2, loaded: 5 } });
  });

  it('is nothing for no ids, and for hits', async () => {
    const a = await lab.process();
    const origin = new ManyOrigin();
    expect(await a.many([], origin.load)).toEqual(new Map());
    const call = a.many([1], origin.load);
    await origin.give(0);
    await call;
    expect(await a.many([1], origin.load)).toEqual(rowsOf([1]));
    expect(origin.loads).toHaveLength(1);
    expect(a.cache.stats()).toMatchObject(QUIET);
  });

  it('shares its entries with getOrLoad', async () => {
    const a = await lab.process();
    a.name = '';
    const origin = new ManyOrigin();
    await a.get('1', () => 'single');
    const call = a.many(['1', '2'], origin.load);
    await origin.give(0);

    expect([...(await call).values()]).toEqual(['single', 'v2']);
    expect(await a.get('2', () => 'not loaded')).toBe('v2');
  });

  it('is in calls of at most maxBatch ids, which run at once', async () => {
    const a = await lab.process();
    const origin = new ManyOrigin();
    const call = a.many([1, 2, 3, 4, 5], origin.load, { maxBatch: 2 });
    await origin.started(2);
    expect(origin.asked).toEqual([[1, 2], [3, 4], [5]]);
    expect(a.cache.stats().active.slots).toBe(3);
    for (const index of [2, 0, 1]) await origin.give(index);
    expect([...(await call).keys()]).toEqual([1, 2, 3, 4, 5]);
  });

  it('waits for each key to have decided, however late that is', async () => {
    let slow!: SlowFor;
    const a = await lab.process({ redisTimeout: 60_000 }, (store) => (slow = new SlowFor(store, ':3')));
    const origin = new ManyOrigin();
    const call = a.many([1, 2, 3], origin.load);
    await lab.fake.settle();
    expect(origin.loads).toEqual([]);
    slow.gate.resolve();
    await origin.give(0);
    expect(await call).toEqual(rowsOf([1, 2, 3]));
    expect(origin.asked).toEqual([[1, 2, 3]]);
  });

  it('also has the keys whose lease nobody granted; they are not stored', async () => {
    class Refusing extends ForwardingStore {
      override async acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
        if (key.id === ':2') throw new Error('refused');
        return this.inner.acquire(key, request);
      }
    }
    const a = await lab.process({}, (store) => new Refusing(store));
    const origin = new ManyOrigin();
    const call = a.many([1, 2], origin.load);
    await origin.give(0);
    expect(await call).toEqual(rowsOf([1, 2]));
    const again = a.many([1, 2], origin.load);
    await origin.give(1);
    await again;
    expect(origin.asked).toEqual([[1, 2], [2]]);
  });

  it('with fresh: true is loaded anew, in one call', async () => {
    const a = await lab.process();
    const origin = new ManyOrigin();
    const first = a.many([1, 2], origin.load);
    await origin.give(0);
    await first;
    const call = a.many([1, 2], origin.load, {}, { fresh: true });
    (await origin.started(1)).resolve(new Map([[1, 'new']]));
    expect([...(await call)]).toEqual([[1, 'new']]);
    expect([...(await a.many([1, 2], origin.load))]).toEqual([[1, 'new']]);
  });

  it.each(['process', 'none'] as const)('is one call with coordinate: %s', async (coordinate) => {
    const a = await lab.process();
    const origin = new ManyOrigin();
    const call = a.many([1, 2], origin.load, { coordinate });
    await origin.give(0);
    expect(await call).toEqual(rowsOf([1, 2]));
    await lab.fake.settle();
    expect(await a.many([1, 2], origin.load, { coordinate })).toEqual(rowsOf([1, 2]));
    expect(origin.loads).toHaveLength(1);
  });

  it('asks the store about a thousand ids at once, whoever wants more', async () => {
    let busy!: Counting;
    const a = await lab.process({}, (store) => (busy = new Counting(store)));
    const load = jest.fn((ids: number[]) => rowsOf(ids));
    const ids = Array.from({ length: 700 }, (_, id) => id);
    const calls = [
      a.many(ids, load),
      a.many(
        ids.map((id) => -1 - id),
        load,
      ),
      a.many([9_999], load),
    ];
    expect((await Promise.all(calls)).map(({ size }) => size)).toEqual([700, 700, 1]);
    expect(load).toHaveBeenCalledTimes(5);
    expect([busy.reads.peak, busy.asks.peak]).toEqual([1_000, 1_000]);
    await lab.fake.settle();
    expect([busy.reads.now, busy.asks.now]).toEqual([0, 0]);
  });

  it('is one call while the store is away', async () => {
    class Away extends ForwardingStore {
      override obstacle(): string {
        return 'not connected';
      }
    }
    const a = await lab.process({}, (store) => new Away(store));
    const origin = new ManyOrigin();
    const ids = Array.from({ length: 300 }, (_, id) => id);
    const call = a.many(ids, origin.load);
    // What fails at once waits for a turn of the event loop when it does so often.
    await lab.fake.advance(10);
    await origin.give(0);
    expect(await call).toEqual(rowsOf(ids));
    expect(origin.loads).toHaveLength(1);
  });

  it('keeps the filter mayExist, without waiting for a slow one', async () => {
    const a = await lab.process();
    const origin = new ManyOrigin();
    const slow = deferred<boolean>();
    const mayExist = (id: number): boolean | Promise<boolean> => (id === 1 ? slow.promise : id !== 2);
    const call = a.many([1, 2, 3, 4], origin.load, { mayExist });
    await origin.started(0);
    expect(origin.asked).toEqual([[3, 4]]);
    slow.resolve(true);
    await origin.give(1);
    await origin.give(0);
    expect(await call).toEqual(rowsOf([1, 3, 4]));
    expect(origin.asked).toEqual([[3, 4], [1]]);
  });

  it('is nothing of the kind past the cache: one call for all ids', async () => {
    const a = await lab.process();
    const origin = new ManyOrigin();
    const call = a.many([2, 1, 2, 3], origin.load, { maxBatch: 2 }, { bypass: true });
    await origin.give(0, [1]);
    await origin.give(1);
    expect([...(await call)]).toEqual([
      [2, 'v2'],
      [3, 'v3'],
    ]);
    expect(origin.asked).toEqual([[2, 1], [3]]);
    expect(a.cache.stats()).toMatchObject({ outcomes: { bypassed: 3 } });
    await a.close();
    const late = a.many([5, 6], origin.load);
    await origin.give(2);
    expect(await late).toEqual(rowsOf([5, 6]));
  });
});

/** How many operations are under way at once. */
class Level {
  now = 0;
  peak = 0;

  async during<T>(running: Promise<T>): Promise<T> {
    this.now += 1;
    this.peak = Math.max(this.peak, this.now);
    const result = await running;
    // Long enough for others to come in between.
    await new Promise((resolve) => setImmediate(resolve));
    this.now -= 1;
    return result;
  }
}

class Counting extends ForwardingStore {
  readonly reads = new Level();
  readonly asks = new Level();

  override read(key: EntryKey): Promise<Buffer | null> {
    return this.reads.during(this.inner.read(key));
  }
  override acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
    return this.asks.during(this.inner.acquire(key, request));
  }
}
