import { ManyOrigin, rowsOf } from '../../../support/many-origin.js';
import { Origin } from '../../../support/origin.js';
import { MemoryLab } from '../memory-lab.js';
import { watchUnhandled } from '../watch-unhandled.js';

describe('refreshes of many', () => {
  let lab: MemoryLab;
  const policy = { ttl: 1_000, stale: 60_000 };
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });

  it('are one call behind the stale answer, beside the load of what is missing', async () => {
    const a = await lab.process();
    await a.many([1, 2, 3], (ids) => rowsOf(ids), policy);
    await lab.fake.advance(1_100);
    await a.many([2], (ids) => rowsOf(ids), policy, { fresh: true });
    const origin = new ManyOrigin();
    const call = a.many([1, 2, 3, 4], origin.load, policy);
    await origin.started(1);
    expect([...origin.asked].sort((one, other) => one.length - other.length)).toEqual([[4], [1, 3]]);
    const at = origin.asked.findIndex(([id]) => id === 4);
    await origin.give(at);
    expect(await call).toEqual(rowsOf([1, 2, 3, 4]));
    origin.loads[1 - at]?.resolve(rowsOf([1, 3].map((id) => id * 10)));
    await lab.fake.settle();
    expect(a.cache.stats().active).toMatchObject({ refreshes: 0, slots: 0 });
  });

  it('that are early are one call too', async () => {
    const a = await lab.process();
    const early = { ttl: 10_000, earlyRefresh: { window: 9_000 } } as const;
    await a.many([1, 2, 3], (ids) => rowsOf(ids), early);
    await lab.fake.advance(9_999);
    lab.fake.setRandom([0.99]);
    const origin = new ManyOrigin();
    expect(await a.many([1, 2, 3], origin.load, early)).toEqual(rowsOf([1, 2, 3]));
    await origin.started(0);
    expect(origin.asked).toEqual([[1, 2, 3]]);
    expect(a.cache.stats().outcomes.early).toBe(3);
    await origin.give(0);
  });

  it('that fail leave the stale values, and rest', async () => {
    const a = await lab.process();
    await a.many([1, 2], (ids) => rowsOf(ids), policy);
    await lab.fake.advance(1_100);
    const load = jest.fn(() => Promise.reject(new Error('down')));
    for (let call = 0; call < 3; call++) {
      expect(await a.many([1, 2], load, policy)).toEqual(rowsOf([1, 2]));
      await lab.fake.settle();
    }
    expect(load).toHaveBeenCalledTimes(1);
    await lab.fake.advance(1_100);
    expect(await a.many([1, 2], (ids) => new Map(ids.map((id) => [id, 'new'])), policy)).toEqual(
      rowsOf([1, 2]),
    );
    await lab.fake.settle();
    expect([...(await a.many([1, 2], load, policy)).values()]).toEqual(['new', 'new']);
  });

  it('go before what waits behind them when a caller comes to wait for one', async () => {
    const a = await lab.process({ loads: { concurrency: 1 } });
    a.name = '';
    await a.many(['1', '2'], (ids) => rowsOf(ids), policy);
    await lab.fake.advance(1_100);
    const [holding, origin] = [new Origin(), new ManyOrigin()];
    const holder = a.get('k', holding.load);
    await holding.started(1);
    await a.many(['1', '2'], origin.load, policy);
    const strict = a.get('2', () => 'not loaded', policy, { maxStale: 0 });
    await lab.fake.settle();
    await holding.give('v');
    await holder;
    (await origin.started(0)).resolve(new Map([['2', 'new']]));
    expect(await strict).toBe('new');
  });
});
