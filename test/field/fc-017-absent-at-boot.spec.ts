import { Injectable } from '@nestjs/common';
import { Cached, StampedeCacheModule } from 'nestjs-stampede-cache';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();

@Injectable()
class Products {
  loads = 0;

  @Cached({ ttl: '1m' })
  async find(id: number): Promise<number> {
    this.loads += 1;
    return id;
  }
}

describe('FC-017: an application with nothing listening on the port of Redis', () => {
  it('starts, loads from the origin, and the cache joins in within 5 s of the start of Redis', async () => {
    const port = await freePort();
    const began = performance.now();
    const app = await here.app({
      cache: { redis: { host: '127.0.0.1', port } },
      providers: [Products],
    });
    expect(performance.now() - began).toBeLessThan(3_000);
    const products = app.get(Products);
    expect([await products.find(1), await products.find(1), products.loads]).toEqual([1, 1, 2]);
    expect(here.lines.warnings).toEqual([expect.stringMatching(/Redis is down .*ECONNREFUSED/)]);

    const redis = await RedisServer.start({ port });
    try {
      const isHit = async () => {
        await products.find(2);
        const { loads } = products;
        await products.find(2);
        return products.loads === loads;
      };
      await until(isHit, { timeout: 5_000, every: 20, what: 'a hit' });
      expect(app.count('redis.up')).toBe(1);
      expect(here.lines.warnings).toHaveLength(1);
      await app.close();
    } finally {
      await redis.stop();
    }
  });

  it('fails by name of host and port where the application asked for that', async () => {
    const redis = { host: '127.0.0.1', port: await freePort() };
    const began = performance.now();
    const error = await here.bootError({
      imports: [StampedeCacheModule.forRoot({ redis, namespace: NAMESPACE, requireRedis: true })],
      providers: [Products],
    });
    expect(error).toMatchObject({ code: 'CACHE_UNAVAILABLE' });
    expect(error.message).toContain(`127.0.0.1:${redis.port}`);
    expect(performance.now() - began).toBeLessThan(3_000);
  });
});
