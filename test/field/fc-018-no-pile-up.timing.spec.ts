import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { CacheClient } from '../integration/fleet/cache-client.js';
import { measured } from '../integration/fleet/fleet.js';
import { ofCaches } from '../integration/ill-ward.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

/** Five times what may be replayed. */
const CALLS = 5_000;
const AT_ONCE = 200;
const LOAD = 5;
const REDIS_TIMEOUT = 100;

let redis: RedisServer;
let client: Redis;
let cache: CacheClient;
let queued = 0;

beforeEach(async () => {
  redis = await RedisServer.start();
  // Never gives a command up, and keeps all that it can't send.
  client = new Redis({ port: redis.port, maxRetriesPerRequest: null, enableOfflineQueue: true });
  client.on('error', () => undefined);
  cache = await CacheClient.open({
    connection: client,
    namespace: 'fc018',
    options: { redisTimeout: REDIS_TIMEOUT, loads: { concurrency: 1_000 } },
  });
  queued = 0;
});
afterEach(async () => {
  await cache.close();
  client.disconnect();
  await redis.stop();
});

const loadSlowly = (): Promise<string> => delay(LOAD, 'value');

function look(): void {
  // ioredis keeps both, and types neither.
  const { commandQueue, offlineQueue } = client as unknown as Record<string, { readonly length: number }>;
  queued = Math.max(queued, (commandQueue?.length ?? 0) + (offlineQueue?.length ?? 0));
}

/** Calls for one key after the other, so many of them at once. Returns how long the slowest took. */
async function traffic(calls: number): Promise<number> {
  let next = 0;
  let slowest = 0;
  const caller = async (): Promise<void> => {
    while (next < calls) {
      const key = `k${next++}`;
      const began = performance.now();
      const { value } = await cache.entry(key, loadSlowly, { ttl: '1m' });
      if (value !== 'value') throw new Error(`${key} is ${String(value)}`);
      slowest = Math.max(slowest, performance.now() - began);
      look();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  return slowest;
}

async function hitAgain(): Promise<void> {
  const asked = async (): Promise<boolean> =>
    (await cache.entry('beacon', loadSlowly, { ttl: '1m' })).outcome === 'fresh';
  await until(asked, { what: 'a hit', timeout: 10_000, every: 20 });
}

describe('FC-018: a client with maxRetriesPerRequest: null and an endless offline queue', () => {
  it.each([
    ['killed', () => redis.kill(), () => redis.restart()],
    ['frozen', () => redis.pause(), () => redis.resume()],
  ] as const)(
    'gets no command that nobody waits for any more, while Redis is %s',
    async (_, ill, well) => {
      await traffic(AT_ONCE);
      await redis.resetCommandCounts();
      queued = 0;
      await ill();
      const slowest = await traffic(CALLS);
      const mostQueued = queued;
      await well();
      await hitAgain();
      const replayed = ofCaches(await redis.commandCounts());
      measured('FC-018', { slowest, mostQueued, replayed });
      expect(mostQueued).toBeLessThan(3 * AT_ONCE);
      expect(replayed).toBeLessThan(1_000);
      // Far from a caller's patience; how long exactly, with so many at once, is the machine's business.
      expect(slowest).toBeLessThan(REDIS_TIMEOUT + 2_000);
    },
    30_000,
  );
});
