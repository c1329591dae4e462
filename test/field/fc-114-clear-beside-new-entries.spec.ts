import { deferred } from '../support/deferred.js';
import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

/** 100,000 in the field; clear does not know how many there are. */
const OLD = 1_000;
const NEW = 200;
const MAX_LAG = 1_000;

async function readable(app: App, kind: string, count: number): Promise<number> {
  const values = await times(count, (i) => app.cache.get([kind, i]));
  return values.filter((value) => value !== undefined).length;
}

describe('FC-114: clear, with new entries written at the same time', () => {
  it('ends every entry from before; those set or loaded from its end on all live, in every process', async () => {
    const [one, two] = [await here.app(), await here.app()];
    await times(OLD, (i) => one.cache.set(['old', i], 'old'));
    const cleared = one.cache.clear();
    // While it is under way: they may live or not, and are never old.
    const beside = times(NEW, async (i) =>
      i % 2 ? one.cache.set(['beside', i], 'new') : two.cache.getOrLoad(['beside', i], () => 'new'),
    );
    await cleared;
    await times(NEW, async (i) => {
      const { cache } = i % 4 < 2 ? one : two;
      return i % 2 ? cache.set(['after', i], 'new') : cache.getOrLoad(['after', i], () => 'new');
    });
    await beside;

    for (const app of [one, two]) expect(await readable(app, 'after', NEW)).toBe(NEW);
    expect(await readable(one, 'old', OLD)).toBe(0);
    await until(async () => (await readable(two, 'old', 100)) === 0, { timeout: MAX_LAG + 500 });
    expect(await readable(two, 'old', OLD)).toBe(0);
    // A process that starts now sees the same.
    const late = await here.app();
    expect([await readable(late, 'old', OLD), await readable(late, 'after', NEW)]).toEqual([0, NEW]);
    // Nothing is lost later either, when everybody has learnt of everything.
    await one.cache.set('last', 1);
    for (const app of [one, two, late]) expect(await readable(app, 'after', NEW)).toBe(NEW);
  }, 40_000);

  it('a load that began before and ends after it is not kept; one that began after it is', async () => {
    const [one, two] = [await here.app(), await here.app()];
    const [before, after] = [deferred<string>(), deferred<string>()];
    const calls = [one.cache.getOrLoad('before', () => before.promise)];
    await until(() => one.cache.stats().loads.started === 1);
    await two.cache.clear();
    calls.push(one.cache.getOrLoad('after', () => after.promise));
    await until(() => one.cache.stats().loads.started === 2);
    before.resolve('old');
    after.resolve('new');
    await Promise.all(calls);
    for (const { cache } of [one, two]) {
      await until(async () => (await cache.get('after')) === 'new', { what: 'the new value' });
      expect(await cache.get('before')).toBeUndefined();
    }
  });

  it('clears that overlap are one after the other: nothing from before the last one lives', async () => {
    const apps = [await here.app(), await here.app()] as const;
    for (let round = 0; round < 50; round++) {
      await apps[0].cache.set('k', round);
      await times(6, (i) => apps[i % 2 ? 1 : 0].cache.clear());
      for (const { cache } of apps) expect(await cache.get('k')).toBeUndefined();
      // And what comes after is believed at once.
      await apps[1].cache.set('l', round);
      expect(await apps[1].cache.get('l')).toBe(round);
      expect(await apps[0].cache.get('l')).toBe(round);
    }
  });
});
