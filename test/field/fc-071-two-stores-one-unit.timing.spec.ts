import { StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { until } from '../support/until.js';
import { field } from './support/field.js';

const here = field();

/** 5 s in the field; a tenth of it here. */
const TTL = 500;

const STORES = {
  'in this process': async (): Promise<StampedeCacheService> => {
    const { policy } = here.options();
    const app = await here.boot({ imports: [StampedeCacheModule.forRoot({ policy })] });
    return app.get(StampedeCacheService);
  },
  'in Redis': async (): Promise<StampedeCacheService> => (await here.app()).cache,
} as const;

describe.each(Object.entries(STORES))('FC-071: a ttl of 500 ms, with the entries %s', (_, start) => {
  it('is 500 ms: hits at a fifth and at four fifths of it, one load after it', async () => {
    const cache = await start();
    let loads = 0;
    const read = () => cache.getOrLoad('k', () => (loads += 1), { ttl: TTL });
    await read();
    const born = performance.now();
    const left = async () => (await cache.inspect('k'))?.freshFor ?? 0;
    await until(async () => (await left()) < TTL * 0.8);
    expect(await read()).toBe(1);
    await until(async () => (await left()) < TTL * 0.2);
    expect(await read()).toBe(1);
    await until(async () => (await cache.get('k')) === undefined);
    const lived = performance.now() - born;
    expect(lived).toBeGreaterThan(TTL - 25);
    expect(lived).toBeLessThan(TTL + 100);
    expect(await read()).toBe(2);
    expect(loads).toBe(2);
  });

  it('of one call goes before a default of a minute, in the same unit', async () => {
    const cache = await start();
    await cache.getOrLoad('mine', () => 1, { ttl: TTL });
    await cache.getOrLoad('default', () => 1);
    const [mine, byDefault] = await Promise.all([cache.inspect('mine'), cache.inspect('default')]);
    for (const life of [mine?.freshFor, mine?.storedFor]) {
      expect(life).toBeGreaterThan(TTL - 200);
      expect(life).toBeLessThanOrEqual(TTL);
    }
    for (const life of [byDefault?.freshFor, byDefault?.storedFor]) {
      expect(life).toBeGreaterThan(59_000);
      expect(life).toBeLessThanOrEqual(60_000);
    }
  });
});
