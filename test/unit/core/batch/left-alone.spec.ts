import { errorOf } from '../../../contract/cache/subject.js';
import { ManyOrigin, rowsOf } from '../../../support/many-origin.js';
import { Origin } from '../../../support/origin.js';
import { MemoryLab } from '../memory-lab.js';
import { stateOf } from '../state-of.js';
import { watchUnhandled } from '../watch-unhandled.js';

const STALE = { ttl: 1_000, staleIfError: 60_000 };

describe('a batch that is left alone', () => {
  let lab: MemoryLab;
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });

  it("ends for a caller with its signal's reason, also where there are hits; the load is stored", async () => {
    const a = await lab.process();
    await a.many([1], (ids) => rowsOf(ids));
    const [origin, controller] = [new ManyOrigin(), new AbortController()];
    const call = a.many([1, 2, 3], origin.load, {}, { signal: controller.signal });
    await origin.started(0);
    const other = a.many([3], origin.load);
    await lab.fake.settle();
    const reason = new Error('client gone');
    controller.abort(reason);
    expect(await errorOf(call)).toBe(reason);
    expect(origin.loads[0]?.ctx.signal.aborted).toBe(false);
    await origin.give(0);
    expect(await other).toEqual(rowsOf([3]));
    expect(await a.many([2], origin.load)).toEqual(rowsOf([2]));
    expect(await errorOf(a.many([1], origin.load, {}, { signal: controller.signal }))).toBe(reason);
  });

  it("with abandon: 'abort' its signal aborts when nobody wants any of its ids", async () => {
    const a = await lab.process();
    const policy = { abandon: 'abort' } as const;
    const [origin, gone, later] = [new ManyOrigin(), new AbortController(), new AbortController()];
    const call = errorOf(a.many([1, 2], origin.load, policy, { signal: gone.signal }));
    await origin.started(0);
    const other = errorOf(a.many([2], origin.load, policy, { signal: later.signal }));
    await lab.fake.settle();
    gone.abort();
    await call;
    await lab.fake.settle();
    const [load] = origin.loads;
    expect([load?.ctx.signal.aborted, load?.ctx.of(1 as never).signal.aborted]).toEqual([false, true]);
    later.abort();
    await other;
    await lab.fake.settle();
    expect(load?.ctx.signal.aborted).toBe(true);
    expect(a.cache.stats().active).toMatchObject({ flights: 0, slots: 0 });
    const again = a.many([1, 2], origin.load, policy);
    await origin.give(1);
    expect(await again).toEqual(rowsOf([1, 2]));
  });

  it('is not begun when everybody has left before', async () => {
    const a = await lab.process({ loads: { concurrency: 1 } });
    const [first, origin, controller] = [new Origin(), new ManyOrigin(), new AbortController()];
    const holder = a.get('k', first.load);
    await first.started(1);
    const call = errorOf(a.many([1, 2], origin.load, {}, { signal: controller.signal }));
    await lab.fake.settle();
    controller.abort();
    await call;
    await first.give('v');
    await holder;
    await lab.fake.settle();
    expect(origin.loads).toEqual([]);
    expect(a.cache.stats().active).toMatchObject({ flights: 0, slots: 0, queued: 0 });
  });

  it('that hangs frees everything at loadTimeout', async () => {
    const [a, b] = [await lab.process({ loads: { concurrency: 1 } }), await lab.process()];
    const origin = new ManyOrigin();
    const policy = { loadTimeout: 5_000 };
    const call = errorOf(a.many([1, 2], origin.load, policy));
    await origin.started(0);
    const waiting = b.many([1, 2], origin.load);
    await lab.fake.advance(5_100);
    expect(await call).toMatchObject({ statusCode: 503, cause: { code: 'LOAD_TIMEOUT' } });
    expect(origin.loads[0]?.ctx.signal.aborted).toBe(true);
    expect(a.cache.stats().active).toMatchObject({ flights: 0, slots: 0, callers: 0 });
    await origin.give(1);
    expect(await waiting).toEqual(rowsOf([1, 2]));
    // What comes late is dropped.
    origin.loads[0]?.resolve(new Map([[1, 'late']]));
    await lab.fake.settle();
    expect(await a.many([1, 2], origin.load, policy)).toEqual(rowsOf([1, 2]));
  });

  it('past softTimeout leaves those with an old value theirs, and is stored', async () => {
    const a = await lab.process();
    const policy = { ...STALE, softTimeout: 100 };
    await a.many([1], (ids) => rowsOf(ids), policy);
    await lab.fake.advance(1_100);
    const origin = new ManyOrigin();
    const call = a.many([1], origin.load, policy);
    await origin.started(0);
    await lab.fake.advance(100);
    expect(await stateOf(lab, call)).toEqual({ value: rowsOf([1]) });
    origin.loads[0]?.resolve(new Map([[1, 'new']]));
    await lab.fake.settle();
    expect((await a.many([1], origin.load, policy)).get(1)).toBe('new');
  });

  it('lets an invalidation of one id revoke that one alone', async () => {
    const a = await lab.process();
    a.name = '';
    const origin = new ManyOrigin();
    const call = a.many(['1', '2'], origin.load);
    await origin.started(0);
    await a.invalidate('2');
    const late = a.many(['1', '2'], origin.load);
    await origin.started(1);
    await origin.give(0);
    await call;
    (await origin.started(1)).resolve(new Map([['2', 'new']]));
    expect([...(await late).values()]).toEqual(['v1', 'new']);
    expect(origin.asked).toEqual([['1', '2'], ['2']]);
    await lab.fake.settle();
    expect([...(await a.many(['1', '2'], origin.load)).values()]).toEqual(['v1', 'new']);
  });
});
