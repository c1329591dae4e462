import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Look, Traffic } from '../integration/fleet/open-loop.worker.js';
import { startWorkers, type Workers } from '../support/processes.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

type OpenLoopWorker = typeof import('../integration/fleet/open-loop.worker.js');

const PROCESSES = 4;
const KEYS = 50;
/** What the database takes at once; more fails. */
const CAPACITY = 10;
const LOAD = 200;

const TRAFFIC: Traffic = {
  rate: 2_000 / PROCESSES,
  keys: KEYS,
  loadMs: LOAD,
  capacity: CAPACITY,
  cached: true,
  policy: { ttl: '10m', jitter: 0, earlyRefresh: 0 },
};

let redis: RedisServer;
let books: RedisServer;
let workers: Workers<OpenLoopWorker>;

beforeAll(async () => {
  const module = join(__dirname, '..', 'integration', 'fleet', 'open-loop.worker.ts');
  [redis, books, workers] = await Promise.all([
    RedisServer.start(),
    RedisServer.start(),
    startWorkers<OpenLoopWorker>({ module, count: PROCESSES }),
  ]);
  await workers.all('open', {
    url: redis.url,
    booksUrl: books.url,
    namespace: 'field',
    options: {
      redisTimeout: '2s',
      redisWriteTimeout: '5s',
      // The sizing formula: limit x processes <= what the database takes.
      loads: { concurrency: Math.floor(CAPACITY / PROCESSES), queueTimeout: '3s' },
    },
  });
}, 30_000);
afterAll(async () => {
  await workers.stop();
  await Promise.all([redis.stop(), books.stop()]);
});

const sum = (looks: readonly Look[], of: (look: Look) => number): number =>
  looks.reduce((total, look) => total + of(look), 0);

describe('FC-007: the cache comes back empty under full load', () => {
  it('the database gets one load for each key, nobody an error, and hits come again without less traffic', async () => {
    await workers.all('begin', TRAFFIC);
    await settled();
    const before = sum(await workers.all('look'), ({ loads }) => loads);
    await redis.client().flushall();
    await delay(2_000);
    const during = await workers.all('look');
    await delay(500);
    const after = await workers.all('look');
    const ends = await workers.all('end');

    expect(before).toBe(KEYS);
    expect(sum(during, ({ loads }) => loads) - before).toBe(KEYS);
    expect(sum(after, ({ loads }) => loads) - before).toBe(KEYS);
    expect([...during, ...after, ...ends].map(({ errors }) => errors)).toEqual(Array(12).fill({}));
    for (const { outcomes, p99 } of after) {
      expect(Object.keys(outcomes)).toEqual(['fresh']);
      expect(p99).toBeLessThan(LOAD / 2);
    }
  }, 20_000);
});

/** Until a look finds nothing but hits. */
async function settled(): Promise<void> {
  const onlyHits = async (): Promise<boolean> => {
    const looks = await workers.all('look');
    return looks.every(({ outcomes }) => Object.keys(outcomes).join() === 'fresh');
  };
  await until(onlyHits, { what: 'every key to be stored', timeout: 10_000, every: 200 });
}
