import { RedisServer } from '../../support/redis-server.js';
import { CacheClient } from './cache-client.js';
import { measured } from './fleet.js';

const KEYS = 2_000;
const TTL_MS = 60_000;
/** The writer stamps by its estimate of the server's clock. */
const CLOCK_ERROR = 50;

let redis: RedisServer;
let client: CacheClient;

beforeAll(async () => {
  redis = await RedisServer.start();
  client = await CacheClient.open({
    url: redis.url,
    namespace: 'shop',
    options: { redisTimeout: '5s', redisWriteTimeout: '10s' },
  });
});
afterAll(async () => {
  await client.close();
  await redis.stop();
});

interface Written {
  /** How long each key lives, from its own write on. */
  readonly lives: readonly number[];
  /** When each will be gone, by the server's clock. */
  readonly ends: readonly number[];
  /** From the first write to the last. */
  readonly took: number;
}

/** Writes all keys at once. */
async function write(name: string, jitter: number): Promise<Written> {
  const began = performance.now();
  const keys = Array.from({ length: KEYS }, (_, index) => `${name}-${index}`);
  await Promise.all(keys.map((key) => client.set(key, key, { ttl: TTL_MS, jitter })));
  const took = performance.now() - began;
  const infos = await Promise.all(keys.map((key) => client.inspect(key)));
  const raw = redis.client();
  const asked = raw.pipeline();
  for (const key of keys) asked.pexpiretime(`shop:d:{${client.idOf(key)}}`);
  const replies = (await asked.exec()) ?? [];
  raw.disconnect();
  const lives = infos.map((info) => (info ? info.storedFor + info.age : NaN));
  return { lives, ends: replies.map(([, at]) => Number(at)), took };
}

const spread = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);

/** How many of the lives lie in each tenth of the jitter window, in percent. */
function shares(lives: readonly number[], window: number): number[] {
  const tenths = Array<number>(10).fill(0);
  for (const life of lives) {
    const tenth = Math.max(0, Math.min(9, Math.floor((10 * (TTL_MS - life)) / window)));
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  return tenths.map((count) => (100 * count) / lives.length);
}

describe('Thousands of keys that are written together (FC-103)', () => {
  it('expire evenly over the jitter window, none of them after its ttl', async () => {
    const { lives, ends, took } = await write('spread', 0.1);
    const evenness = shares(lives, TTL_MS / 10);
    measured('expiries by tenths of the window, %', { evenness, took, spread: spread(ends) });
    expect(spread(ends)).toBeGreaterThanOrEqual(5_000);
    for (const share of evenness) {
      expect(share).toBeGreaterThanOrEqual(5);
      expect(share).toBeLessThanOrEqual(15);
    }
    // Counted from the moment at which the writer stamped it; the server's expiry begins a little later.
    expect(Math.max(...lives)).toBeLessThanOrEqual(TTL_MS + took);
    expect(Math.min(...lives)).toBeGreaterThanOrEqual(0.9 * TTL_MS - CLOCK_ERROR);
  }, 20_000);

  it('expire together without jitter', async () => {
    const { lives, ends, took } = await write('together', 0);
    expect(spread(ends)).toBeLessThanOrEqual(took + 1);
    expect(Math.min(...lives)).toBeGreaterThanOrEqual(TTL_MS - CLOCK_ERROR);
  }, 20_000);
});
