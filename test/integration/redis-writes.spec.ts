import { Redis } from 'ioredis';
import { StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { boot } from '../e2e/kit.js';
import { countWrites } from '../support/count-writes.js';
import { RedisServer } from '../support/redis-server.js';

const KEYS = 200;

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

describe('what many callers of one turn need of Redis', () => {
  it('leaves in a few writes: leases, entries and reads', async () => {
    const redis = new Redis(server.url);
    const app = await boot({
      imports: [StampedeCacheModule.forRoot({ redis, namespace: 'writes', redisTimeout: '5s' })],
    });
    try {
      const cache = app.get(StampedeCacheService);
      const all = () =>
        Promise.all(
          Array.from({ length: KEYS }, (_, n) =>
            cache.getOrLoad(`k${n}`, () => n, { ttl: '1m', earlyRefresh: 0 }),
          ),
        );
      await cache.getOrLoad('warm', () => 0, { ttl: '1m' });
      const writes = countWrites(redis.stream);
      expect(await all()).toEqual(Array.from({ length: KEYS }, (_, n) => n));
      // Each key was asked for, leased, staged and committed.
      expect(writes()).toBeLessThan(KEYS / 2);
      const cold = writes();
      await all();
      expect(writes() - cold).toBeLessThan(10);
    } finally {
      await app.close();
      redis.disconnect();
    }
  });
});
