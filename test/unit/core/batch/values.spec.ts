import { ConfigurationError, LoadManyError } from '../../../../lib/core/errors.js';
import { errorOf } from '../../../contract/cache/subject.js';
import { ManyOrigin, rowsOf } from '../../../support/many-origin.js';
import { MemoryLab } from '../memory-lab.js';
import { watchUnhandled } from '../watch-unhandled.js';

const STALE = { ttl: 1_000, stale: 0, staleIfError: 60_000 };

describe('what a loader of many gives', () => {
  let lab: MemoryLab;
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });

  it('null and other falsy values are values; undefined and what is absent are "not found", and stored as that', async () => {
    const a = await lab.process();
    a.name = '';
    const found = new Map<unknown, unknown>([
      ['null', null],
      ['zero', 0],
      ['empty', ''],
      ['false', false],
      ['undefined', undefined],
    ]);
    const load = jest.fn(() => found);
    const ids = [...found.keys(), 'absent'];
    const expected = [...found].filter(([, value]) => value !== undefined);
    for (let call = 0; call < 2; call++) expect([...(await a.many(ids, load))]).toEqual(expected);
    expect(load).toHaveBeenCalledTimes(1);
    // Not found for getOrLoad too.
    expect(await a.get('absent', () => 'loaded')).toBeUndefined();
    await lab.fake.advance(10_000);
    await a.many(ids, load);
    expect(load).toHaveBeenLastCalledWith(['null', 'undefined', 'absent'], expect.anything());
  });

  it('"not found" lives for negativeTtl whatever the policy says of values, whose functions are not asked', async () => {
    const a = await lab.process();
    const ttl = jest.fn((row: { ttl: number }) => row.ttl);
    const isNegative = jest.fn((row: { gone: boolean }) => row.gone);
    const cacheIf = jest.fn((row: { gone: boolean }) => !row.gone);
    const rows = new Map([[1, { ttl: 5_000, gone: false }]]);
    const load = jest.fn((ids: number[]) => new Map([...rows].filter(([id]) => ids.includes(id))));
    const policy = { ttl, isNegative, cacheIf, negativeTtl: 2_000 };
    const get = (): Promise<Map<unknown, unknown>> => a.many([1, 2], load, policy);
    await get();
    await lab.fake.advance(1_999);
    expect([...(await get()).keys()]).toEqual([1]);
    expect(load).toHaveBeenCalledTimes(1);
    await lab.fake.advance(1);
    await get();
    expect(load).toHaveBeenLastCalledWith([2], expect.anything());
    expect(lab.warnings).toEqual([]);
  });

  it('is stored also with a serializer or a type that know nothing of it', async () => {
    const a = await lab.process();
    class Row {
      constructor(readonly id: number) {}
    }
    const serializer = {
      name: 'json',
      encode: (value: unknown) => Buffer.from(JSON.stringify(value)),
      decode: (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString()),
    };
    for (const format of [{ serializer }, { type: Row }]) {
      const load = jest.fn(() => new Map([[1, new Row(1)]]));
      const key = (id: number): unknown[] => [Object.keys(format).join(), id];
      for (let call = 0; call < 2; call++) {
        expect([...(await a.many([1, 2], load, { ...format, key }))]).toEqual([[1, { id: 1 }]]);
      }
      expect(load).toHaveBeenCalledTimes(1);
    }
  });

  it('is not stored where negativeTtl is 0', async () => {
    const a = await lab.process();
    const load = jest.fn(async () => new Map());
    for (let call = 0; call < 2; call++) await a.many([1], load, { negativeTtl: 0 });
    expect(load).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['undefined', undefined],
    ['an array', [1]],
    ['an object', { 1: 'v' }],
  ])('%s is no Map: a clear error', async (_, given) => {
    const a = await lab.process();
    const error = await errorOf(a.many([1, 2], () => given));
    expect(error).toBeInstanceOf(LoadManyError);
    expect(error).toMatchObject({
      cause: expect.any(ConfigurationError) as unknown,
      message: expect.stringMatching(/Shop.findMany: loadMany returned .* Return a Map/) as unknown,
    });
  });

  it('ids that were not asked for are ignored, with one warning that names the likely cause', async () => {
    const a = await lab.process();
    const load = (): Map<unknown, string> => rowsOf(['1', '2', 3]);
    expect(await a.many([1, 2, 3], load, { negativeTtl: 0 })).toEqual(rowsOf([3]));
    expect(await a.many([1, 2], load, { negativeTtl: 0 })).toEqual(new Map());
    expect(lab.warnings).toEqual([
      "Shop.findMany: loadMany returned an id that it was not asked for, '1'. It was ignored. 2 of 3 ids are missing, such as 1: are they of the same type? 1 and '1' are two ids.",
    ]);
  });

  it('says nothing of missing ones where none is missing', async () => {
    const a = await lab.process();
    await a.many([1], () => rowsOf([1, 2]));
    expect(lab.warnings).toEqual([
      'Shop.findMany: loadMany returned an id that it was not asked for, 2. It was ignored.',
    ]);
  });

  it('ids that are objects are found by their contents', async () => {
    const a = await lab.process();
    const ids = [{ shop: 1, day: new Date(5) }, { shop: 2, day: new Date(5) }, [1, 2], Buffer.from('x')];
    const load = (): Map<unknown, unknown> =>
      new Map<unknown, unknown>([
        [{ day: new Date(5), shop: 2 }, 'two'],
        [[1, 2], 'list'],
        [ids[0], 'one'],
        [{ shop: 3 }, 'three'],
      ]);
    expect([...(await a.many(ids, load))]).toEqual([
      [ids[0], 'one'],
      [ids[1], 'two'],
      [ids[2], 'list'],
    ]);
    expect(lab.warnings).toEqual([expect.stringContaining('{ shop: 3 }')]);
  });

  it('each caller has copies of its own', async () => {
    const a = await lab.process();
    const row = { name: 'a' };
    const [first, second] = await Promise.all([
      a.many<typeof row>([1], () => new Map([[1, row]])),
      a.many<typeof row>([1], () => new Map([[1, row]])),
    ]);
    expect(first?.get(1)).toEqual(row);
    expect(first?.get(1)).not.toBe(row);
    expect(first?.get(1)).not.toBe(second?.get(1));
  });

  it('an uncacheable value fails its id alone', async () => {
    const a = await lab.process();
    class Entity {}
    const load = (): Map<unknown, unknown> =>
      new Map<unknown, unknown>([
        [1, 'v1'],
        [2, new Entity()],
      ]);
    const error = await errorOf(a.many([1, 2], load));
    expect(error).toMatchObject({ results: rowsOf([1]), cause: { code: 'UNCACHEABLE_VALUE' } });
    expect([...(error as LoadManyError).errors.keys()]).toEqual([2]);
  });

  it('a rejection fails the ids that have neither a hit nor a stale value, with the very error', async () => {
    const a = await lab.process();
    await a.many([1, 2], (ids) => rowsOf(ids), STALE);
    await lab.fake.advance(500);
    await a.many([3], (ids) => rowsOf(ids), STALE);
    await lab.fake.advance(600);
    const down = new Error('the database is down');
    const error = await errorOf(a.many([1, 4, 3, 5, 2], () => Promise.reject(down), STALE));
    expect(error).toBeInstanceOf(LoadManyError);
    const { results, errors, cause, message, statusCode } = error as LoadManyError;
    expect([...results]).toEqual([
      [1, 'v1'],
      [3, 'v3'],
      [2, 'v2'],
    ]);
    expect([...errors]).toEqual([
      [4, down],
      [5, down],
    ]);
    expect(cause).toBe(down);
    expect(statusCode).toBeUndefined();
    expect(message).toBe(
      'Shop.findMany: 2 of 5 ids failed; `results` has the others. The first failed with Error: the database is down',
    );
    // What a log would show.
    expect(JSON.stringify(error)).not.toContain('v1');
  });

  it('a rejection stands aside for stale values, and for the fallback', async () => {
    const a = await lab.process();
    await a.many([1], (ids) => rowsOf(ids), STALE);
    await lab.fake.advance(1_100);
    const fallback = (_: unknown, id: number): string | undefined => (id === 2 ? 'fallback' : undefined);
    const rows = await a.many([1, 2, 3], () => Promise.reject(new Error('down')), { ...STALE, fallback });
    expect([...rows]).toEqual([
      [1, 'v1'],
      [2, 'fallback'],
    ]);
  });

  it('negativeErrors are answers, for each of the ids', async () => {
    const a = await lab.process();
    const load = jest.fn(() => Promise.reject(new RangeError('none of them')));
    const policy = { negativeErrors: RangeError, errors: [RangeError] };
    for (let call = 0; call < 2; call++)
      expect(await errorOf(a.many([1, 2], load, policy))).toMatchObject({ cause: { name: 'RangeError' } });
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('waiters elsewhere share the failure', async () => {
    const [a, b] = [await lab.process(), await lab.process()];
    const origin = new ManyOrigin();
    const theirs = errorOf(b.many([1, 2], origin.load));
    await origin.started(0);
    const ours = errorOf(a.many([1, 2], origin.load));
    await lab.fake.settle();
    origin.loads[0]?.reject(new Error('secret'));
    expect(await theirs).toMatchObject({ cause: { message: 'secret' } });
    expect(await ours).toMatchObject({ cause: { code: 'REMOTE_LOAD' } });
    expect(origin.loads).toHaveLength(1);
  });

  it.each([
    [{ maxBatch: 0 }, 'Shop.findMany: maxBatch is a whole number >= 1, received 0.'],
    [{ maxBatch: 1.5 }, 'received 1.5'],
    [{ key: undefined }, 'Shop.findMany: key is a function such as (id) => '],
    [{ kay: 1 }, "unknown option 'kay'"],
  ])('the options %j are refused by name', async (options, message) => {
    const a = await lab.process();
    expect(() => a.many([1], () => new Map(), options as never)).toThrow(message);
  });

  it('ids without a text are refused before anything is loaded', async () => {
    const a = await lab.process();
    const load = jest.fn();
    expect(await errorOf(a.many([1, Symbol('x')], load))).toMatchObject({ code: 'UNCACHEABLE_ARGUMENT' });
    expect(await errorOf(a.many([1], load, { key: () => new Map([[() => 1, 1]]) }))).toMatchObject({
      code: 'UNCACHEABLE_ARGUMENT',
    });
    expect(load).not.toHaveBeenCalled();
    expect(a.cache.stats().active).toMatchObject({ flights: 0, callers: 0, slots: 0 });
  });
});
