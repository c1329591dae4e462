import { Origin } from '../support/origin.js';
import { field } from './support/field.js';

const here = field();

describe('FC-011: a call made after an invalidation, while the load before it still runs', () => {
  it.each([
    ['of the process that loads', 0, 0],
    ['of another process', 1, 0],
    ['of another process, the invalidation too', 1, 1],
  ])('begins a load of its own; the first caller gets its answer: %s', async (_, where, whose) => {
    const apps = [await here.app(), await here.app()];
    const [origin, newer] = [new Origin(), new Origin()];
    const first = apps[0]!.cache.getOrLoad('k', origin.load);
    await origin.started(1);
    await apps[whose]!.cache.invalidate('k');
    const second = apps[where]!.cache.getOrLoad('k', newer.load);
    await newer.started(1);
    await newer.give('v2');
    expect(await second).toBe('v2');
    await origin.give('v1');
    expect(await first).toBe('v1');
    for (const { cache } of apps) expect(await cache.getOrLoad('k', newer.load)).toBe('v2');
    expect([origin.starts, newer.starts]).toEqual([1, 1]);
  });

  it('counts `set` as an invalidation: whoever comes after it gets what was set', async () => {
    const { cache } = await here.app();
    const origin = new Origin();
    const first = cache.getOrLoad('k', origin.load);
    await origin.started(1);
    await cache.set('k', 'set');
    expect(await cache.getOrLoad('k', origin.load)).toBe('set');
    await origin.give('v1');
    expect(await first).toBe('v1');
    expect(await cache.getOrLoad('k', origin.load)).toBe('set');
  });
});
