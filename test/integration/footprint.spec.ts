import { Redis } from 'ioredis';
import { StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { boot } from '../e2e/kit.js';
import { RedisServer } from '../support/redis-server.js';

/** What an untagged entry may take beside its key and payload, bytes by MEMORY USAGE, on average. */
const MOST = 120;

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** Redis rounds what it allocates up, by as much as a fifth: one size tells little. */
const SIZES = Array.from({ length: 60 }, (_, index) => 10 + 9 * index);

describe('an entry in Redis', () => {
  it('takes hardly more than a plain SET of the same key and payload', async () => {
    const redis = new Redis(server.url);
    const app = await boot({
      imports: [StampedeCacheModule.forRoot({ redis: server.url, namespace: 'shop' })],
    });
    const cache = app.get(StampedeCacheService);
    const usage = async (key: string): Promise<number> =>
      Number(await redis.memory('USAGE', key, 'SAMPLES', 0));
    try {
      let more = 0;
      for (const size of SIZES) {
        const value = 'x'.repeat(size);
        await cache.getOrLoad(`k${size}`, () => value, { ttl: '1h', stale: '1h' });
        const key = `shop:d:{:'k${size}'}`;
        const ours = await usage(key);
        await redis.set(key, JSON.stringify(value), 'PX', 3_600_000);
        const plain = await usage(key);
        more += ours - plain;
      }
      expect(more / SIZES.length).toBeLessThanOrEqual(MOST);
      // Nothing is kept beside the entries.
      expect(await redis.dbsize()).toBe(SIZES.length);
    } finally {
      await app.close();
      redis.disconnect();
    }
  });
});
