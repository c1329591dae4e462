import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Redis } from 'ioredis';
import { parseHeader } from '../../lib/core/entry/index.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { CacheClient } from './fleet/cache-client.js';

const POLICY = { ttl: '1m', stale: '1h', jitter: 0, earlyRefresh: 0 } as const;
const COMPRESSED = { ...POLICY, compress: true } as const;
const ROWS = Array.from({ length: 3_000 }, (_, id) => ({ id, name: `row ${id}`, tags: ['red', 'large'] }));
const TEXT = JSON.stringify(ROWS);

let server: RedisServer;
let raw: Redis;
let one: CacheClient;
let two: CacheClient;

beforeAll(async () => {
  server = await RedisServer.start();
  raw = server.client();
  const setup = { url: server.url, namespace: 'shop', options: { redisTimeout: '10s' } } as const;
  [one, two] = await Promise.all([CacheClient.open(setup), CacheClient.open(setup)]);
});
afterAll(async () => {
  await Promise.all([one.close(), two.close()]);
  await server.stop();
});
beforeEach(() => raw.flushall());

const dataKey = (key: string): string => `shop:d:{${one.idOf(key)}}`;
const load = (): unknown => ROWS;
const never = (): never => {
  throw new Error('loaded again');
};

async function stored(key: string): Promise<{ letter: string; size: number; payload: Buffer }> {
  const bytes = (await raw.getBuffer(dataKey(key))) ?? Buffer.alloc(0);
  const parsed = parseHeader(bytes);
  if (!parsed) throw new Error(`no entry lies at ${key}`);
  const payload = bytes.subarray(parsed.headLength);
  return { letter: bytes.toString('latin1', 2, 3), size: parsed.header.size, payload };
}

const memoryOf = async (key: string): Promise<number> =>
  Number(await raw.call('MEMORY', 'USAGE', dataKey(key)));

it('takes less memory of the server, and is read without the option; what is plain is read with it', async () => {
  await one.entry('compressed', load, COMPRESSED);
  await one.entry('plain', load, POLICY);

  const hits = await Promise.all([
    two.entry('compressed', never, POLICY),
    two.entry('compressed', never, COMPRESSED),
    two.entry('plain', never, COMPRESSED),
    one.entry('plain', never, POLICY),
  ]);
  for (const { value, outcome } of hits) {
    expect(outcome).toBe('fresh');
    expect(value).toEqual(ROWS);
  }
  expect(await memoryOf('compressed')).toBeLessThan((await memoryOf('plain')) / 3);
  const [small, large] = [await one.inspect('compressed'), await one.inspect('plain')];
  expect(small?.bytes).toBe(await raw.strlen(dataKey('compressed')));
  expect(large?.bytes).toBeGreaterThan(TEXT.length);
});

it('lies there as what its letter says, behind a head that stays readable', async () => {
  await one.entry('brotli', load, COMPRESSED);
  await one.entry('gzip', load, { ...POLICY, compress: { algorithm: 'gzip' } });
  await one.entry('plain', load, POLICY);
  const [brotli, gzip, plain] = [await stored('brotli'), await stored('gzip'), await stored('plain')];

  expect([brotli.letter, gzip.letter, plain.letter]).toEqual(['b', 'g', '-']);
  expect(brotliDecompressSync(brotli.payload).toString()).toBe(TEXT);
  expect(gunzipSync(gzip.payload).toString()).toBe(TEXT);
  expect(plain.payload.toString()).toBe(TEXT);
  expect(brotli.size).toBe(brotli.payload.length);
});

it('expires and is kept by the scripts, which never look behind the head', async () => {
  await one.entry('k', load, COMPRESSED);
  const before = await stored('k');
  await one.cache.changes.expire([aboutOf('k')]);
  expect(await two.inspect('k')).toMatchObject({ state: 'stale' });
  let seen: unknown;
  const stale = await two.entry('k', (ctx) => ((seen = ctx.stale), ctx.notModified()), POLICY);
  expect(stale.outcome).toBe('stale');
  expect(stale.value).toEqual(ROWS);
  await until(async () => (await two.inspect('k'))?.state === 'fresh');

  expect(seen).toEqual(ROWS);
  const { value, outcome } = await one.entry('k', never, POLICY);
  expect(outcome).toBe('fresh');
  expect(value).toEqual(ROWS);
  // Where the new head had another length, it was written anew by a process that does not compress.
  const after = await stored('k');
  expect([before.letter, '-']).toContain(after.letter);
});

function aboutOf(key: string) {
  const { requests } = one.cache;
  const name = 'Shop.find';
  return { key: requests.keyOf({ name }, undefined, key, name), name };
}
