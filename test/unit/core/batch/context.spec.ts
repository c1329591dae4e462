import type { LoadManyContext } from '../../../../lib/core/batch/index.js';
import { errorOf } from '../../../contract/cache/subject.js';
import { rowsOf } from '../../../support/many-origin.js';
import { MemoryLab } from '../memory-lab.js';
import { watchUnhandled } from '../watch-unhandled.js';

const STALE = { ttl: 1_000, staleIfError: 60_000 };

describe('the context of a loader of many', () => {
  let lab: MemoryLab;
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });

  const freshFor = async (...keys: string[]): Promise<unknown[]> => {
    const a = await lab.process();
    a.name = '';
    return Promise.all(keys.map(async (key) => (await a.inspect(key))?.freshFor));
  };

  it('speaks for all ids, or for one', async () => {
    const a = await lab.process();
    await a.many(['1', '2', '3', '4'], (ids, ctx) => {
      ctx.ttl('5s');
      ctx.tags('all');
      ctx.of('2').ttl('9s');
      ctx.of('2').tags('second');
      ctx.of('3').skip();
      return rowsOf(ids);
    });
    await lab.fake.settle();
    expect(await freshFor('1', '2', '3', '4')).toEqual([5_000, 9_000, undefined, 5_000]);
    const load = jest.fn((ids: never[]) => rowsOf(ids));
    await a.cache.changes.invalidateTags(['second']);
    await a.many(['1', '2', '4'], load);
    expect(load).toHaveBeenLastCalledWith(['2'], expect.anything());
    await a.cache.changes.invalidateTags(['all']);
    await a.many(['1', '2', '4'], load);
    expect(load).toHaveBeenLastCalledWith(['1', '4'], expect.anything());
  });

  it('has the stale values, and keeps those that are told not modified', async () => {
    const a = await lab.process();
    await a.many([1, 2, 3], (ids) => rowsOf(ids), STALE);
    await lab.fake.advance(1_500);
    let seen: unknown;
    const rows = await a.many(
      [1, 2, 4],
      (_, ctx) => {
        seen = [...ctx.stale];
        return new Map([
          [1, ctx.of(1).notModified()],
          [2, 'new'],
          [4, 'v4'],
        ]);
      },
      STALE,
    );
    expect(seen).toEqual([
      [1, 'v1'],
      [2, 'v2'],
    ]);
    expect([...rows.values()]).toEqual(['v1', 'new', 'v4']);
    expect((await a.many([1, 2], () => new Map(), STALE)).size).toBe(2);
  });

  it('takes asOf and sourceVersion for one id', async () => {
    const a = await lab.process();
    const write = (value: string, version: number, asOf: number): Promise<Map<unknown, unknown>> =>
      a.many(
        [1, 2],
        (_, ctx) => {
          ctx.of(1).sourceVersion(version);
          ctx.of(2).asOf(asOf);
          return new Map([
            [1, value],
            [2, value],
          ]);
        },
        STALE,
      );
    await write('new', 2, 1_700_000_000_000);
    await lab.fake.advance(1_100);
    expect([...(await write('old', 1, 1_700_000_000_000)).values()]).toEqual(['old', 'old']);
    await lab.fake.settle();
    // The older one has not replaced it, and the fleet rests; the other one is as old as it says.
    const down = jest.fn(() => Promise.reject(new Error('down')));
    expect([...(await a.many([1, 2], down, STALE)).values()]).toEqual(['new', 'old']);
    expect(down.mock.calls).toEqual([[[2], expect.anything()]]);
  });

  it('refuses what concerns no id of it', async () => {
    const a = await lab.process();
    let held: LoadManyContext | undefined;
    await a.many([1, 2], (ids, ctx) => {
      held = ctx;
      return rowsOf(ids);
    });
    expect(() => held?.of(3)).toThrow('Shop.findMany: ctx.of(3): it is not among the 2 ids of this load.');
    const whole = errorOf(a.many([5], () => new Map([[5, a.cache.currentLoad()?.notModified()]])));
    expect(await whole).toMatchObject({ cause: { code: 'CONFIGURATION' } });
  });

  it('is what currentLoad finds: what is said there counts for all', async () => {
    const a = await lab.process();
    await a.many(['1', '2'], async (ids) => {
      await Promise.resolve();
      a.cache.currentLoad()?.ttl('7s');
      expect(a.cache.currentLoad()?.key).toBe(":'1' :'2'");
      expect(a.cache.currentLoad()?.stale).toBeUndefined();
      return rowsOf(ids);
    });
    await lab.fake.settle();
    expect(await freshFor('1', '2')).toEqual([7_000, 7_000]);
  });

  it('gives a list that the loader may change', async () => {
    const a = await lab.process();
    const load = (ids: never[]): Map<unknown, string> => rowsOf(ids.splice(0));
    expect(await a.many([1, 2], load)).toEqual(rowsOf([1, 2]));
  });
});
