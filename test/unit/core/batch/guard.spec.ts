import { errorOf } from '../../../contract/cache/subject.js';
import type { Process } from '../../../contract/cache/lab.js';
import { ManyOrigin, rowsOf } from '../../../support/many-origin.js';
import { Origin } from '../../../support/origin.js';
import { MemoryLab } from '../memory-lab.js';
import { stateOf } from '../state-of.js';
import { watchUnhandled } from '../watch-unhandled.js';

const ONE = { loads: { concurrency: 1 } };
const IDLE = { flights: 0, slots: 0, queued: 0, callers: 0 };

describe('a batch and the load guard', () => {
  let lab: MemoryLab;
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });

  const slots = (a: Process): number => a.cache.stats().active.slots;

  it('needs one slot, however many its ids', async () => {
    const a = await lab.process(ONE);
    const [origin, other] = [new ManyOrigin(), new Origin()];
    const call = a.many([1, 2, 3], origin.load);
    await origin.started(0);
    const single = a.get('k', other.load);
    await lab.fake.settle();
    expect(a.cache.stats().active).toMatchObject({ slots: 1, queued: 1 });
    expect(other.starts).toBe(0);
    await origin.give(0);
    await other.give('v');
    expect([await call, await single]).toEqual([rowsOf([1, 2, 3]), 'v']);
    await lab.fake.settle();
    expect(a.cache.stats().active).toMatchObject(IDLE);
  });

  it('runs after another batch of its call where there is one slot', async () => {
    const a = await lab.process(ONE);
    const origin = new ManyOrigin();
    const call = a.many([1, 2, 3, 4, 5], origin.load, { maxBatch: 2 });
    for (const index of [0, 1, 2]) {
      await origin.started(index);
      await lab.fake.settle();
      expect([origin.loads.length, slots(a)]).toEqual([index + 1, 1]);
      await origin.give(index);
    }
    expect(await call).toEqual(rowsOf([1, 2, 3, 4, 5]));
  });

  it('has none when all its ids wait for others', async () => {
    const [a, b] = [await lab.process(), await lab.process()];
    const origin = new ManyOrigin();
    const theirs = b.many([1, 2], origin.load);
    await origin.started(0);
    const call = a.many([1, 2], origin.load);
    await lab.fake.settle();
    expect(a.cache.stats().active).toMatchObject({ flights: 2, slots: 0 });
    await origin.give(0);
    await Promise.all([theirs, call]);
  });

  it('gives its place in the queue up when all its callers have gone', async () => {
    const a = await lab.process(ONE);
    const [first, origin] = [new Origin(), new ManyOrigin()];
    const holder = a.get('k', first.load);
    await first.started(1);
    const controller = new AbortController();
    const call = errorOf(a.many([1, 2], origin.load, {}, { signal: controller.signal }));
    await lab.fake.settle();
    expect(a.cache.stats().active).toMatchObject({ queued: 1 });
    controller.abort(new Error('gone'));
    expect(await call).toMatchObject({ message: 'gone' });
    await lab.fake.settle();
    expect(a.cache.stats().active).toMatchObject({ queued: 0, flights: 1 });
    await first.give('v');
    await holder;
    expect(origin.loads).toEqual([]);
    const next = a.many([1, 2], origin.load);
    await origin.give(0);
    expect(await next).toEqual(rowsOf([1, 2]));
  });

  it('keeps its place for an id that somebody else waits for', async () => {
    const a = await lab.process(ONE);
    a.name = '';
    const [first, origin] = [new Origin(), new ManyOrigin()];
    const holder = a.get('k', first.load);
    await first.started(1);
    const controller = new AbortController();
    const call = errorOf(a.many(['1', '2'], origin.load, {}, { signal: controller.signal }));
    await lab.fake.settle();
    const joined = a.get('2', () => 'not loaded');
    await lab.fake.settle();
    controller.abort(new Error('gone'));
    await call;
    await first.give('v');
    await holder;
    await origin.give(0);
    expect(await joined).toBe('v2');
    expect(origin.asked).toEqual([['2']]);
  });

  it('that is shed rejects as a 503 that keeps the hits', async () => {
    const a = await lab.process({ loads: { concurrency: 1, queue: 0 } });
    const [first, origin] = [new Origin(), new ManyOrigin()];
    const before = a.many([1], origin.load);
    await origin.give(0);
    await before;
    const holder = a.get('k', first.load);
    await first.started(1);
    const error = await errorOf(a.many([1, 2, 3], origin.load));
    expect(error).toMatchObject({ code: 'LOAD_MANY', statusCode: 503, retryAfter: 1_000 });
    expect(error).toMatchObject({ results: rowsOf([1]), cause: { code: 'LOAD_REJECTED' } });
    expect(origin.loads).toHaveLength(1);
    await first.give('v');
    await holder;
  });

  describe('nested', () => {
    it('in a load: it runs on that slot, one batch after the other', async () => {
      const a = await lab.process(ONE);
      const origin = new ManyOrigin();
      const outer = a.get('outer', async () => {
        const rows = await a.many([1, 2, 3], origin.load, { maxBatch: 2 });
        return [...rows.values()].join();
      });
      await origin.give(0);
      await lab.fake.settle();
      expect([origin.asked, slots(a)]).toEqual([[[1, 2], [3]], 1]);
      await origin.give(1);
      expect(await outer).toBe('v1,v2,v3');
      await lab.fake.settle();
      expect(a.cache.stats().active).toMatchObject(IDLE);
    });

    it('in a batch: loads inside of it run on its slot, in turn', async () => {
      const a = await lab.process(ONE);
      const inner = new Origin();
      const call = a.many([1, 2], async (ids) => {
        const found = await Promise.all(
          ids.map(async (id) => [id, await a.get(`i${String(id)}`, inner.load)]),
        );
        return new Map(found as [unknown, unknown][]);
      });
      await inner.started(1);
      await lab.fake.settle();
      expect([inner.starts, slots(a)]).toEqual([1, 1]);
      await inner.give('x');
      await inner.give('y');
      expect([...(await call).values()]).toEqual(['x', 'y']);
      await lab.fake.settle();
      expect(a.cache.stats().active).toMatchObject(IDLE);
    });

    it('batches in a batch come to an end on one slot', async () => {
      const a = await lab.process(ONE);
      const origin = new ManyOrigin();
      const call = a.many([1, 2], async () => a.many([11, 12, 13], origin.load, { maxBatch: 1 }));
      for (const index of [0, 1, 2]) {
        await origin.give(index);
        await lab.fake.settle();
      }
      await call;
      expect(a.cache.stats().active).toMatchObject(IDLE);
    });

    it('a call for one of its own ids is refused at once', async () => {
      const a = await lab.process();
      const direct = errorOf(a.many([1, 2], async () => a.many([3, 2], async () => rowsOf([3, 2]))));
      expect(await direct).toMatchObject({ cause: { code: 'LOAD_MANY', cause: { code: 'REENTRANT_LOAD' } } });
      a.name = '';
      const single = errorOf(a.many(['1', '2'], () => a.get('2', () => 'x')));
      expect(await single).toMatchObject({ results: new Map(), cause: { code: 'REENTRANT_LOAD' } });
    });

    it('so is one that would wait, over other loads, for itself', async () => {
      const a = await lab.process({ loads: { concurrency: 5 } });
      a.name = '';
      const [gate, origin] = [new Origin(), new ManyOrigin()];
      // `other` waits for id 1 of the batch, which then calls `other`.
      const call = a.many(['1', '2'], async (ids) => {
        await gate.load();
        await a.get('other', origin.load as never);
        return rowsOf(ids);
      });
      await gate.started(1);
      const other = a.get('other', () => a.get('1', () => 'x'));
      await lab.fake.settle();
      await gate.give(undefined);
      expect(await errorOf(call)).toMatchObject({ cause: { code: 'REENTRANT_LOAD' } });
      expect(await stateOf(lab, other)).toMatchObject({
        error: expect.stringContaining('Reentrant') as string,
      });
    });

    it('batches of two pools that call each other come to an end', async () => {
      const a = await lab.process({ loads: { concurrency: 1, queueTimeout: '1m', pools: { reports: {} } } });
      const gate = new Origin();
      const between = (pool: string, other: string): Promise<unknown> =>
        a.many(
          [`${pool}1`, `${pool}2`],
          async (ids) => {
            await gate.load();
            await a.many([`${pool}3`, `${pool}4`], async (inner) => rowsOf(inner), { pool: other });
            return rowsOf(ids);
          },
          { pool },
        );
      const calls = Promise.all([between('default', 'reports'), between('reports', 'default')]);
      await gate.started(2);
      await gate.give(undefined);
      await gate.give(undefined);
      await lab.fake.advance(50);
      expect(await calls).toHaveLength(2);
      expect(a.cache.stats().active).toMatchObject(IDLE);
    });
  });

  describe('and the breaker', () => {
    it('is one load to it: one failure, one success', async () => {
      const a = await lab.process({ loads: { breaker: { minimum: 4, threshold: 0.5 } } });
      const down = async (): Promise<never> => Promise.reject(new Error('down'));
      const fill = (from: number): number[] => Array.from({ length: 30 }, (_, i) => from + i);
      for (let round = 0; round < 3; round++) await errorOf(a.many(fill(round * 100), down));
      await lab.fake.settle();
      expect(a.cache.stats().pools).toMatchObject({ default: { breaker: 'closed' } });
      await a.many(fill(500), async (ids) => rowsOf(ids));
      await lab.fake.settle();
      // Three of four.
      expect(a.cache.stats().pools).toMatchObject({ default: { breaker: 'closed' } });
      await errorOf(a.many(fill(600), down));
      await lab.fake.settle();
      expect(a.cache.stats().pools).toMatchObject({ default: { breaker: 'open' } });
      expect(await errorOf(a.many([1], down))).toMatchObject({ cause: { code: 'LOAD_REJECTED' } });
    });

    it('may be the one that tries, and closes it', async () => {
      const a = await lab.process({ loads: { breaker: { minimum: 1, halfOpenAfter: 1_000 } } });
      await errorOf(a.get('k', () => Promise.reject(new Error('down'))));
      await lab.fake.advance(1_000);
      const origin = new ManyOrigin();
      const call = a.many([1, 2], origin.load);
      await origin.started(0);
      expect(await errorOf(a.many([3], origin.load))).toMatchObject({ cause: { code: 'LOAD_REJECTED' } });
      await origin.give(0);
      expect(await call).toEqual(rowsOf([1, 2]));
      await lab.fake.settle();
      expect(a.cache.stats().pools).toMatchObject({ default: { breaker: 'closed' } });
    });

    it('hands the trial on when none of its ids was ours', async () => {
      const [a, b] = [
        await lab.process({ loads: { breaker: { minimum: 1, halfOpenAfter: 1_000 } } }),
        await lab.process(),
      ];
      await errorOf(a.get('k', () => Promise.reject(new Error('down'))));
      await lab.fake.advance(1_000);
      const origin = new ManyOrigin();
      const theirs = b.many([1, 2], origin.load);
      await origin.started(0);
      const call = a.many([1, 2], origin.load);
      await lab.fake.settle();
      expect(await a.get('next', () => 'v')).toBe('v');
      await origin.give(0);
      await Promise.all([theirs, call]);
    });
  });
});
