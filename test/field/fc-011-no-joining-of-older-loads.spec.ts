import { Origin } from '../support/origin.js';
import type { App } from './support/app.js';
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

const CHANGES: readonly (readonly [string, (cache: App['cache']) => Promise<void>])[] = [
  ['invalidateTags', (cache) => cache.invalidateTags('t')],
  ['clear', (cache) => cache.clear()],
];

describe.each(CHANGES)('FC-011: a call made after %s, while the load before it still runs', (_, change) => {
  it.each([
    ['in the process that loads', 0],
    ['in another process', 1],
  ])('may wait for that load, and is not given its value: %s', async (__, where) => {
    const apps = [await here.app(), await here.app()];
    const [origin, newer] = [new Origin(), new Origin()];
    const policy = { tags: ['t'] };
    const first = apps[0]!.cache.getOrLoad('k', origin.load, policy);
    await origin.started(1);
    await change(apps[where]!.cache);
    const second = apps[where]!.cache.getOrLoad('k', newer.load, policy);
    await apps[where]!.waiting(where === 0 ? 2 : 1);
    await origin.give('v1');
    await newer.give('v2');
    expect(await second).toBe('v2');
    // The first caller's call is older than the change: either will do for it.
    expect(['v1', 'v2']).toContain(await first);
    for (const { cache } of apps) expect(await cache.getOrLoad('k', newer.load, policy)).toBe('v2');
    expect([origin.starts, newer.starts]).toEqual([1, 1]);
  });
});

describe('FC-011: a call made after expire, while the load before it still runs', () => {
  it.each([
    ['of the process that loads', 0],
    ['of another process', 1],
  ])('begins a load of its own: %s', async (_, where) => {
    const apps = [await here.app(), await here.app()];
    const [origin, newer] = [new Origin(), new Origin()];
    const first = apps[0]!.cache.getOrLoad('k', origin.load);
    await origin.started(1);
    await apps[where]!.cache.expire('k');
    const second = apps[where]!.cache.getOrLoad('k', newer.load);
    await newer.give('v2');
    expect(await second).toBe('v2');
    await origin.give('v1');
    await first;
    for (const { cache } of apps) expect(await cache.getOrLoad('k', newer.load)).toBe('v2');
  });
});
