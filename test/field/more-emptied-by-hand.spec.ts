import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { times } from './support/conditions.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();

const POLICY = { ttl: '1h', stale: '1h', tags: ['t'] } as const;

/** All keys of the cache as they are, as a backup holds them. */
async function backup(): Promise<() => Promise<void>> {
  const names = await here.raw.keys(`${NAMESPACE}:*`);
  const kept = await Promise.all(
    names.map(async (name) => ({
      name,
      bytes: await here.raw.dumpBuffer(name),
      ttl: await here.raw.pttl(name),
    })),
  );
  return async () => {
    await here.raw.flushall();
    for (const { name, bytes, ttl } of kept) await here.raw.restore(name, Math.max(0, ttl), bytes, 'REPLACE');
  };
}

async function start(): Promise<readonly [App, App]> {
  const apps = [await here.app(), await here.app()] as const;
  for (const { cache } of apps) await cache.getOrLoad('k', () => 'first', POLICY);
  return apps;
}

describe('A Redis that is emptied by hand under running applications', () => {
  it.each(['flushall', 'flushdb'] as const)(
    '(%s) costs a load a key, and nothing else goes on as before',
    async (how) => {
      const apps = await start();
      await apps[0].cache.clear();
      await apps[0].cache.invalidateTags('t');
      await here.raw[how]();
      let loads = 0;
      const load = () => `load ${(loads += 1)}`;
      for (const { cache } of apps) expect(await cache.getOrLoad('k', load, POLICY)).toBe('load 1');
      for (const { cache } of [...apps, await here.app()])
        expect(await cache.getOrLoad('k', load, POLICY)).toBe('load 1');
      await apps[1].cache.invalidateTags('t');
      expect(await apps[1].cache.getOrLoad('k', load, POLICY)).toBe('load 2');
      await apps[1].cache.clear();
      expect(await apps[1].cache.getOrLoad('k', load, POLICY)).toBe('load 3');
      for (const { cache } of apps) {
        await until(async () => (await cache.getOrLoad('k', load, POLICY)) === 'load 3');
        expect(cache.stats().storeFailures).toBe(0);
      }
    },
  );

  it('(SCRIPT FLUSH) goes on: every change and every load', async () => {
    const [one, two] = await start();
    const changes = [
      () => one.cache.invalidateTags('t'),
      () => one.cache.expireTags('t'),
      () => one.cache.clear(),
      () => one.cache.invalidate('k'),
      () => one.cache.expire('k'),
      () => one.cache.set('k', 'set', POLICY),
      () => two.cache.getOrLoad('k', () => 'loaded', POLICY, { fresh: true }),
    ];
    for (const change of changes) {
      await here.raw.script('FLUSH');
      await change();
      await here.raw.script('FLUSH');
      expect(await two.cache.getOrLoad('other', () => 'other', POLICY)).toBe('other');
    }
    for (const { cache } of [one, two])
      expect(cache.stats()).toMatchObject({ storeFailures: 0, active: { unsettled: 0 } });
  });

  it('while loads run: their callers get their values, and nothing stays behind that no change can reach', async () => {
    const [one, two] = await start();
    const values = times(20, (i) =>
      one.cache.getOrLoad(
        ['slow', i],
        async () => {
          await here.raw.flushall();
          return i;
        },
        POLICY,
      ),
    );
    expect(await values).toEqual(Array.from({ length: 20 }, (_, i) => i));
    await two.cache.invalidateTags('t');
    for (let i = 0; i < 20; i++) expect(await two.cache.get(['slow', i])).toBeUndefined();
  });
});

describe('A Redis that got an older backup back', () => {
  it('does not bring back what was cleared since, while anybody runs who knows of it', async () => {
    const [one, two] = await start();
    const restore = await backup();
    await one.cache.clear();
    expect(await one.cache.getOrLoad('k', () => 'second', POLICY)).toBe('second');
    await until(async () => (await two.cache.get('k')) === 'second');
    await restore();
    for (const { cache } of [one, two]) expect(await cache.getEntry('k', POLICY)).toBeUndefined();
    // It puts right what the backup says, for those who start now.
    await until(async () => {
      await one.cache.get('k');
      return (await here.raw.exists(`${NAMESPACE}:epochs`)) === 1;
    });
    expect(await (await here.app()).cache.getEntry('k', POLICY)).toBeUndefined();
    expect(await two.cache.getOrLoad('k', () => 'third', POLICY)).toBe('third');
    await until(async () => (await one.cache.getOrLoad('k', () => 'fourth', POLICY)) === 'third');
  });

  it('takes changes as before, of what it brought back too', async () => {
    const [one, two] = await start();
    const restore = await backup();
    await one.cache.invalidateTags('t');
    await restore();
    await one.cache.invalidateTags('t');
    expect(await one.cache.getEntry('k', POLICY)).toBeUndefined();
    await until(async () => (await two.cache.getEntry('k', POLICY)) === undefined);
    expect(await (await here.app()).cache.getEntry('k', POLICY)).toBeUndefined();
  });
});
