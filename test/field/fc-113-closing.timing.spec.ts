import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cached, isStampedeCacheError } from 'nestjs-stampede-cache';
import { until } from '../support/until.js';
import { errorOf } from './support/conditions.js';
import { field } from './support/field.js';
import { errorsOf, Fleet, serialsOf } from './support/fleet.js';

const here = field();

@Injectable()
class Products {
  loads = 0;

  @Cached()
  async find(id: number): Promise<number> {
    this.loads += 1;
    return id;
  }
}

describe('FC-113: closing an application', () => {
  it('twice is the same as once', async () => {
    const app = await here.app({ providers: [Products] });
    await app.get(Products).find(1);
    await app.close();
    await app.close();
  });

  it('works while Redis is gone', async () => {
    const app = await here.app({ providers: [Products] });
    await app.get(Products).find(1);
    await here.redis.kill();
    try {
      await app.happened('redis.down');
      const began = performance.now();
      await Promise.all([app.close(), app.close()]);
      expect(performance.now() - began).toBeLessThan(2_000);
    } finally {
      await here.redis.restart();
      await until(() => here.raw.status === 'ready');
    }
  });

  it('lets later calls of a cached method run the method', async () => {
    const app = await here.app({ providers: [Products] });
    const products = app.get(Products);
    await products.find(1);
    await app.close();
    expect(await products.find(1)).toBe(1);
    expect(products.loads).toBe(2);
  });

  it('never lets a later invalidation pass for done', async () => {
    const app = await here.app({ providers: [Products] });
    const { cache } = app;
    await cache.set('k', 1);
    await app.close();
    const error = await errorOf(cache.invalidate('k'));
    expect(isStampedeCacheError(error)).toBe(true);
    expect(error).toMatchObject({ code: 'INVALIDATION_FAILED' });
    expect((await errorOf(cache.set('k', 2))).message).toMatch(/set was not acknowledged/);
    expect(await here.entries()).toHaveLength(1);
  });
});

describe('FC-113: SIGTERM in the middle of 50 loads', () => {
  it('gives 50 callers their values, stores or skips, gives the leases back and ends in time', async () => {
    const fleet = await Fleet.start({ processes: 2, setupOf: () => ({ shutdownHooks: true }) });
    try {
      const ids = Array.from({ length: 50 }, (_, i) => `p${i}`);
      const [leaving, staying] = [fleet.workers.at(0), fleet.workers.at(1)];
      const replies = leaving.call('each', ids, 300);
      await Promise.all(ids.map((id) => fleet.loadsBegan(id, 1)));
      const began = performance.now();
      const exit = leaving.kill('SIGTERM');
      expect(errorsOf(await replies)).toEqual([]);
      expect(await Promise.race([exit, delay(5_000)])).toMatchObject({ signal: 'SIGTERM' });
      expect(performance.now() - began).toBeLessThan(4_000);
      // Whoever comes now neither waits for a lease of the one that left nor needs to load again.
      const after = await staying.call('each', ids, 0);
      expect(errorsOf(after)).toEqual([]);
      expect(serialsOf(after)).toEqual([1]);
      expect(Math.max(...after.map(({ took }) => took))).toBeLessThan(1_000);
    } finally {
      await fleet.stop();
    }
  }, 20_000);
});
