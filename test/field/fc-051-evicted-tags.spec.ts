import { Origin } from '../support/origin.js';
import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();

const TAG = `${NAMESPACE}:t:{t}`;
/** As Redis would, short of memory. */
const evict = (name = TAG) => here.raw.unlink(name);
const POLICY = { ttl: '1h', stale: '1h', tags: ['t'] } as const;

interface Kit {
  readonly apps: readonly App[];
  readonly cache: App['cache'];
  /** What every process answers, one after another. */
  read(): Promise<unknown[]>;
  loads: number;
}

async function start(): Promise<Kit> {
  const apps = [await here.app(), await here.app()];
  const kit: Kit = {
    apps,
    cache: apps[0]!.cache,
    loads: 0,
    async read() {
      const values: unknown[] = [];
      for (const { cache } of apps) values.push(await cache.getOrLoad('k', () => (kit.loads += 1), POLICY));
      return values;
    },
  };
  expect(await kit.read()).toEqual([1, 1]);
  return kit;
}

const INVALIDATIONS: readonly (readonly [string, (cache: App['cache']) => Promise<void>])[] = [
  ['invalidateTags', (cache) => cache.invalidateTags('t')],
  ['invalidateTags, held off', (cache) => cache.invalidateTags('t', { holdOff: '1ms' })],
];

describe('FC-051: the record of a tag was evicted', () => {
  it.each(INVALIDATIONS)(
    '%s still ends its entries, in every process and for good',
    async (_, invalidate) => {
      const kit = await start();
      await evict();
      await invalidate(kit.cache);
      // Processes that have not seen anything yet decide by Redis alone.
      const late = await here.app();
      expect(await late.cache.get('k')).toBeUndefined();
      await until(async () => (await kit.apps[1]!.cache.get('k')) === undefined, {
        what: 'the other process to know',
      });
      await until(
        async () => (await kit.read()).every((value) => value !== 1) && (await kit.read())[0] !== 1,
      );
      expect((await kit.read()).includes(1)).toBe(false);
    },
  );

  it('after the invalidation brings nothing back', async () => {
    const kit = await start();
    await kit.cache.invalidateTags('t');
    await evict();
    const late = await here.app();
    expect(await late.cache.getEntry('k', POLICY)).toBeUndefined();
    expect(await kit.cache.getEntry('k', POLICY)).toBeUndefined();
    await until(async () => (await kit.apps[1]!.cache.getEntry('k', POLICY)) === undefined);
    // Nor does a tag that is made anew, for another entry.
    await late.cache.set('other', 1, POLICY);
    expect(await here.raw.exists(TAG)).toBe(1);
    expect(await late.cache.getEntry('k', POLICY)).toBeUndefined();
    expect(await kit.cache.getEntry('k', POLICY)).toBeUndefined();
  });

  it('by itself is a miss at most: the value is loaded anew and is a hit from then on', async () => {
    const kit = await start();
    await evict();
    const late = await here.app();
    expect(await late.cache.getEntry('k', POLICY)).toBeUndefined();
    const load = () => Promise.resolve(7);
    expect(await late.cache.getOrLoad('k', load, POLICY)).toBe(7);
    expect(await here.raw.exists(TAG)).toBe(1);
    expect(await late.cache.get('k')).toBe(7);
    await until(async () => (await kit.read()).join() === '7,7', { what: 'everybody to have it' });
  });

  it('before a soft expiry: nobody goes on with the old value as if it were fresh', async () => {
    const kit = await start();
    await evict();
    await kit.cache.expireTags('t');
    const late = await here.app();
    expect(await late.cache.get('k')).toBeUndefined();
    expect(await late.cache.getOrLoad('k', () => 9, POLICY)).toBe(9);
  });

  it('after a soft expiry: the value does not become fresh again', async () => {
    const kit = await start();
    await kit.cache.expireTags('t');
    expect(await kit.cache.inspect('k')).toMatchObject({ state: 'stale' });
    await evict();
    const late = await here.app();
    for (const { cache } of [...kit.apps, late]) expect(await cache.get('k')).toBeUndefined();
  });

  it.each([
    ['tags', { tags: ['t'] }],
    ['valueTags', { valueTags: () => ['t'] }],
  ])('and invalidated while a load runs: what it read is not kept (%s)', async (_, how) => {
    const [one, two] = [await here.app(), await here.app()];
    const origin = new Origin();
    const policy = { ...POLICY, tags: undefined, ...how };
    const early = one.cache.getOrLoad('k', origin.load, policy);
    await origin.started(1);
    await two.cache.invalidateTags('t');
    await evict();
    await two.cache.invalidateTags('t');
    await origin.give('old');
    await early;
    for (const { cache } of [one, two]) expect(await cache.getEntry('k', policy)).toBeUndefined();
    expect(await one.cache.getOrLoad('k', () => 'new', policy)).toBe('new');
    expect(['new', 'newer']).toContain(await two.cache.getOrLoad('k', () => 'newer', policy));
  });

  it('while a load runs, after an invalidation: what it read is not kept', async () => {
    const [one, two] = [await here.app(), await here.app()];
    const origin = new Origin();
    const early = one.cache.getOrLoad('k', origin.load, POLICY);
    await origin.started(1);
    await two.cache.invalidateTags('t');
    await evict();
    await origin.give('old');
    await early;
    for (const { cache } of [one, two]) expect(await cache.getEntry('k', POLICY)).toBeUndefined();
    expect(await two.cache.getOrLoad('k', () => 'new', POLICY)).toBe('new');
    expect(await one.cache.getOrLoad('k', () => 'newer', POLICY)).toBe('new');
  });

  it.each([
    ['of everything', (cache: App['cache']) => cache.clear()],
    ['held off', (cache: App['cache']) => cache.invalidate('k', { holdOff: '1ms' })],
  ])('the record of a clear too: nothing comes back in a process that knew of it (%s)', async (_, act) => {
    const kit = await start();
    await act(kit.cache);
    for (const { cache } of kit.apps) {
      await until(async () => (await cache.getEntry('k', POLICY)) === undefined, {
        what: 'every process to know',
      });
    }
    await evict(`${NAMESPACE}:epochs`);
    for (const { cache } of kit.apps) expect(await cache.getEntry('k', POLICY)).toBeUndefined();
  });

  it('the record of a clear: those who knew of it put it back for those who start now', async () => {
    const kit = await start();
    await kit.cache.clear();
    await evict(`${NAMESPACE}:epochs`);
    expect(await kit.cache.get('k')).toBeUndefined();
    // They ask every half of maxLag.
    await until(
      async () => {
        await kit.cache.get('k');
        return (await here.raw.exists(`${NAMESPACE}:epochs`)) === 1;
      },
      { what: 'the epochs to be back' },
    );
    const late = await here.app();
    expect(await late.cache.getEntry('k', POLICY)).toBeUndefined();
  });
});
