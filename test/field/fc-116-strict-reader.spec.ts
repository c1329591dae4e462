import { Origin } from '../support/origin.js';
import { untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

describe('FC-116: a caller that takes nothing stale, while the refresh of another runs', () => {
  it.each([
    ['in the same process, by its policy', 0, { ttl: 50, stale: 0 }, undefined],
    ['in the same process, by this call alone', 0, { ttl: 50, stale: '1h' }, { maxStale: 0 }],
    ['in another process, by its policy', 1, { ttl: 50, stale: 0 }, undefined],
    ['in another process, by this call alone', 1, { ttl: 50, stale: '1h' }, { maxStale: 0 }],
  ] as const)('waits for the new value; the other has the old one at once; one load: %s', async (...row) => {
    const [, where, strict, call] = row;
    const policy = { ttl: 50, stale: '1h' } as const;
    const apps = [await here.app(), await here.app()];
    const a = apps[0]!;
    const b = apps[where]!;
    await a.cache.getOrLoad('k', () => 'old', policy);
    await untilStale(() => a.cache.inspect('k'));
    const origin = new Origin();
    expect(await a.cache.getOrLoad('k', origin.load, policy)).toBe('old');
    await origin.started(1);
    let settled = false;
    const waits = b.cache.getOrLoad('k', origin.load, strict, call).finally(() => (settled = true));
    await b.waiting(1);
    expect(await a.cache.getOrLoad('k', origin.load, policy)).toBe('old');
    expect(settled).toBe(false);
    await origin.give('new');
    expect(await waits).toBe('new');
    expect(origin.starts).toBe(1);
  });
});
