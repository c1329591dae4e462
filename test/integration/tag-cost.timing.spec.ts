import { Redis } from 'ioredis';
import { createRedisStore } from '../../lib/redis/index.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';
import { Process, type Lab } from '../contract/cache/lab.js';
import { parseCommandStats, type CommandCounts } from '../support/command-stats.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { measured } from './fleet/fleet.js';

const READS = 2_000;
const TAGS = ['one', 'two', 'three', 'four'];

describe('reading an entry with four tags', () => {
  let server: RedisServer;
  let admin: Redis;
  let process: Process;

  beforeAll(async () => {
    server = await RedisServer.start();
    admin = new Redis(server.url);
    const runtime = createNodeRuntime({ log: { info: () => undefined, warn: () => undefined } });
    const lab: Lab = {
      runtime,
      openStore: () => createRedisStore({ connection: server.url, namespace: 'shop', runtime }),
      advance: () => Promise.resolve(),
      warnings: [],
      close: () => Promise.resolve(),
    };
    process = await Process.open(lab, { redisTimeout: '2s' });
    await process.get('plain', () => 'v');
    await process.get('tagged', () => 'v', { tags: TAGS });
  });
  afterAll(async () => {
    await process.close();
    admin.disconnect();
    await server.stop();
  });

  async function counted(key: string): Promise<{ counts: CommandCounts; ms: number }> {
    await admin.config('RESETSTAT');
    const began = performance.now();
    for (let read = 0; read < READS; read++) await process.peek(key);
    const ms = performance.now() - began;
    return { counts: parseCommandStats(await admin.info('commandstats')), ms };
  }

  it('takes one GET in the steady state, as one without tags does, and a heartbeat beside it', async () => {
    // Until the link has proven that nothing is missing, tags are asked for with each read.
    await until(async () => (await process.peek('tagged')) && process.store.toldUntil() > 0, {
      what: 'the first heartbeat',
    });
    const plain = await counted('plain');
    const tagged = await counted('tagged');
    const seconds = tagged.ms / 1_000;
    measured('reads', { plain, tagged });

    // One GET a read, and the epochs twice a second.
    for (const { counts, ms } of [plain, tagged])
      expect(counts['get']).toBeLessThanOrEqual(READS + Math.ceil(ms / 500) + 1 + TAGS.length);
    expect(tagged.counts['evalsha'] ?? 0).toBe(0);
    expect(tagged.counts['ping'] ?? 0).toBeLessThanOrEqual(Math.ceil(seconds * 4) + 2);
  });
});
