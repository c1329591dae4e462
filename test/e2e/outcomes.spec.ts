import { StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { boot } from './kit.js';

it('every caller is counted, also those who share a read', async () => {
  const app = await boot({
    imports: [StampedeCacheModule.forRoot({ policy: { ttl: '1m', earlyRefresh: 0 } })],
  });
  const cache = app.get(StampedeCacheService);
  const read = () => cache.getOrLoad('k', () => 1);
  await Promise.all([read(), read(), read()]);
  expect(cache.stats().outcomes).toMatchObject({ loaded: 1, joined: 2, fresh: 0 });
  await Promise.all([read(), read(), read(), read()]);
  expect(cache.stats().outcomes).toMatchObject({ loaded: 1, joined: 2, fresh: 4 });
});
