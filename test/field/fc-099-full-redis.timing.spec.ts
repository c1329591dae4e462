import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { CacheClient } from '../integration/fleet/cache-client.js';
import { measured } from '../integration/fleet/fleet.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const SECONDS = 4;
const PAUSE = 10;

let redis: RedisServer;
let raw: Redis;
let cache: CacheClient;

beforeEach(async () => {
  redis = await RedisServer.start({ args: ['--maxmemory-policy', 'noeviction'] });
  raw = redis.client();
  cache = await CacheClient.open({ url: redis.url, namespace: 'fc099' });
});
afterEach(async () => {
  await cache.close();
  await redis.stop();
});

const get = (key: string) => cache.entry(key, () => 'value', { ttl: '1m' });

/** Commands that were refused because the server is full. */
async function refused(): Promise<number> {
  const [, count = '0'] = /errorstat_OOM:count=(\d+)/.exec(await raw.info('errorstats')) ?? [];
  return Number(count);
}

describe('FC-099: a Redis that is full, with noeviction', () => {
  it('is asked for few writes, still read from, and written to within 5 s of having room', async () => {
    await get('kept');
    expect((await get('kept')).outcome).toBe('fresh');
    await raw.config('SET', 'maxmemory', '1');
    const before = await refused();
    let calls = 0;
    for (const end = performance.now() + SECONDS * 1_000; performance.now() < end; calls++) {
      expect((await get(`k${calls}`)).value).toBe('value');
      expect((await get('kept')).outcome).toBe('fresh');
      await delay(PAUSE);
    }
    const doomed = (await refused()) - before;
    const lines = cache.warnings.length;
    await raw.config('SET', 'maxmemory', '0');
    const began = performance.now();
    const written = async (): Promise<boolean> => (await get('new')).outcome === 'fresh';
    await until(written, { what: 'a write', timeout: 10_000, every: 20 });
    const recovery = performance.now() - began;
    measured('FC-099', { calls, doomed, lines, recovery });
    expect(calls).toBeGreaterThan(50);
    // A few until it is known, and then one a second of each kind.
    expect(doomed).toBeLessThanOrEqual(15 + 2 * SECONDS);
    expect(lines).toBeLessThanOrEqual(3);
    expect(recovery).toBeLessThan(5_000);
  }, 30_000);
});
