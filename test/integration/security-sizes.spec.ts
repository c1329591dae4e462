import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { createRedisStore } from '../../lib/redis/index.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';
import { Process, type Lab } from '../contract/cache/lab.js';
import { RedisServer } from '../support/redis-server.js';

const MB = 1_024 * 1_024;

let server: RedisServer;
let raw: Redis;
let one: Process;
let two: Process;
let warnings: string[];

beforeAll(async () => {
  server = await RedisServer.start();
  raw = server.client();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await raw.flushall();
  warnings = [];
  const runtime = createNodeRuntime({
    log: { info: () => undefined, warn: (line) => void warnings.push(line) },
  });
  const lab: Lab = {
    ...{ runtime, warnings, close: () => Promise.resolve() },
    openStore: () => createRedisStore({ connection: server.url, namespace: 'shop', runtime }),
    advance: (ms) => delay(ms),
  };
  const options = { redisTimeout: '10s', redisWriteTimeout: '10s' } as const;
  [one, two] = [await Process.open(lab, options), await Process.open(lab, options)];
});
afterEach(() => Promise.all([one.close(), two.close()]));

describe('a value over 8 MiB', () => {
  it('reaches its callers, is not stored, and is warned of once', async () => {
    const large = 'x'.repeat(8 * MB);
    for (const key of ['a', 'b', 'a']) expect(await one.get(key, () => large)).toBe(large);
    expect(await raw.keys('shop:d:*')).toEqual([]);
    expect(warnings.filter((line) => line.includes('maxValueBytes'))).toHaveLength(1);
  });

  it('just below it is stored', async () => {
    const large = 'x'.repeat(8 * MB - 100);
    await one.get('k', () => large);
    expect((await two.get('k', () => 'loaded')) === large).toBe(true);
    expect(warnings).toEqual([]);
  });
});

describe('texts of a megabyte', () => {
  const huge = (): string => randomBytes(MB / 2).toString('hex');

  it('in arguments, tags, names and versions make no name of a key longer than 512 bytes', async () => {
    for (const process of [one, two]) {
      process.name = huge();
      process.version = huge();
    }
    const [key, tag] = [huge(), huge()];
    const policy = { tags: [tag], valueTags: () => [tag.slice(1)] };
    expect(await one.get(key, () => 'v', policy)).toBe('v');
    two.name = one.name;
    two.version = one.version;
    expect(await two.get(key, () => 'again', policy)).toBe('v');
    await one.cache.changes.invalidateTags([tag]);
    expect(await one.get(key, () => 'new', policy)).toBe('new');
    await one.cache.changes.clear(one.name);
    expect(await one.get(key, () => 'newer', policy)).toBe('newer');

    const names = await raw.keys('*');
    expect(names.length).toBeGreaterThanOrEqual(5);
    for (const name of names) expect(name.length).toBeLessThan(512);
  });
});
