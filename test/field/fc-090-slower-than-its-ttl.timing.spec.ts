import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.js';
import { field } from './support/field.js';

const here = field();

/** In the field 300 and 500 ms. */
const TTL = 200;
const LOAD = 300;

describe('FC-090: a load that takes longer than its ttl', () => {
  it.each([
    ['without a stale window', 0],
    ['with one of 10 s', 10_000],
  ])('is fresh for the whole ttl once it is there, %s', async (_, stale) => {
    const { cache } = await here.app();
    const policy = { ttl: TTL, stale };
    let loads = 0;
    const load = async () => {
      await delay(LOAD);
      return (loads += 1);
    };
    await cache.getOrLoad('k', load, policy);
    const pttl = await here.pttl();
    expect(pttl).toBeGreaterThan(TTL - 100 + stale);
    expect(pttl).toBeLessThanOrEqual(TTL + stale);
    for (let call = 2; call <= 5; call++) {
      expect(await cache.getOrLoadEntry('k', load, policy)).toMatchObject({ value: 1, outcome: 'fresh' });
    }
    expect(loads).toBe(1);
    await until(async () => ((await cache.inspect('k'))?.freshFor ?? 0) === 0);
    await cache.getOrLoad('k', load, policy);
    await until(() => loads === 2);
  });
});
