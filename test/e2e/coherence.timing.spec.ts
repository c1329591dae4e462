import { StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { parseCommandStats } from '../support/command-stats.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { boot } from './kit.js';

describe('coherence.maxLag', () => {
  it('is what the store proves its messages by: four times a lag', async () => {
    const server = await RedisServer.start();
    try {
      const admin = server.client();
      const pings = async () => parseCommandStats(await admin.info('commandstats'))['ping'] ?? 0;
      const app = await boot({
        imports: [
          StampedeCacheModule.forRoot({
            redis: server.url,
            namespace: 'shop',
            policy: { ttl: '60s', tags: ['t'] },
            coherence: { maxLag: '40ms' },
          }),
        ],
      });
      const cache = app.get(StampedeCacheService);
      const before = await pings();
      const begun = performance.now();
      const beats = async () => {
        await cache.getOrLoad('k', () => 1);
        return (await pings()) - before >= 20;
      };
      await until(beats, { what: '20 beats' });
      // 200 ms by this lag; by the default one it would take 5 s.
      expect(performance.now() - begun).toBeLessThan(2_500);
      await app.close();
    } finally {
      await server.stop();
    }
  });
});
