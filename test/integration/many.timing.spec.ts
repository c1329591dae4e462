import { setTimeout as delay } from 'node:timers/promises';
import type { CacheOptions } from '../../lib/core/cache-options.js';
import { createRedisStore } from '../../lib/redis/index.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';
import { Process } from '../contract/cache/lab.js';
import { rowsOf } from '../support/many-origin.js';
import type { CommandCounts } from '../support/command-stats.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const COUNT = 1_000;
/** Of every reply, ms: far above what this process computes for so many ids. */
const LAG = 2_500;

let server: RedisServer;
let proxy: TcpProxy;
let namespaces = 0;

beforeAll(async () => {
  server = await RedisServer.start();
  proxy = await TcpProxy.start(server);
});
const opened: Process[] = [];
afterEach(async () => {
  proxy.resume();
  for (const process of opened.splice(0)) await process.close();
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});

async function open(options: CacheOptions, url = server.url): Promise<Process> {
  const runtime = createNodeRuntime({ log: { info: () => undefined, warn: () => undefined } });
  const namespace = `many-${(namespaces += 1)}`;
  const openStore = (): ReturnType<typeof createRedisStore> =>
    createRedisStore({ connection: url, namespace, runtime });
  const lab = { runtime, openStore, advance: delay, warnings: [], close: async () => undefined };
  const process = await Process.open(lab, options);
  opened.push(process);
  return process;
}

const idsFrom = (from: number): number[] => Array.from({ length: COUNT }, (_, index) => from + index);

const stored = (a: Process, count: number): Promise<unknown> =>
  until(() => a.cache.stats().publishes.stored >= count, { what: `${count} entries to be stored` });

async function msOf(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

describe(`${COUNT} ids in one call`, () => {
  const load = jest.fn((ids: number[]) => rowsOf(ids));
  const readCommands = ({ get = 0, mget = 0 }: CommandCounts): number => get + mget;

  it('cost one read, one lease and one publication each, and two calls of the loader', async () => {
    const a = await open({});
    await a.many([-1], (ids) => rowsOf(ids));
    await stored(a, 1);
    load.mockClear();
    const cold = await server.countCommands(async () => {
      expect(await a.many(idsFrom(0), load)).toEqual(rowsOf(idsFrom(0)));
      await stored(a, COUNT + 1);
    });
    const hits = await server.countCommands(async () => {
      expect(await a.many(idsFrom(0), load)).toEqual(rowsOf(idsFrom(0)));
    });

    expect(load.mock.calls.map(([ids]) => ids.length)).toEqual([500, 500]);
    expect(cold['evalsha']).toBe(2 * COUNT);
    // With those inside of the scripts: leases and staged values.
    expect(cold['set']).toBe(2 * COUNT);
    expect(cold['subscribe'] ?? 0).toBe(0);
    const { get: _, mget: __, ...others } = hits;
    expect(others).toEqual({});
    // The epochs besides.
    expect(readCommands(hits)).toBeLessThanOrEqual(COUNT + 1);
  });

  it('cost nothing where this process has copies', async () => {
    const a = await open({ l1: {} });
    const ids = idsFrom(3 * COUNT);
    await a.many(ids, load);
    await stored(a, COUNT);
    const hits = async (): Promise<number> => {
      const before = a.cache.stats().l1.hits;
      await a.many(ids, load);
      return a.cache.stats().l1.hits - before;
    };
    await until(async () => (await hits()) === COUNT, { what: 'copies of all' });
    const counts = await server.countCommands(async () => {
      expect(await a.many(ids, load)).toEqual(rowsOf(ids));
    });
    // A slow machine may let a proof come late.
    expect(readCommands(counts)).toBeLessThan(COUNT / 10);
  });

  it('take two round trips when nothing is cached, and one when all is', async () => {
    const a = await open({ redisTimeout: '30s', redisWriteTimeout: '30s' }, proxy.url);
    await a.many([-1], (ids) => rowsOf(ids));
    await stored(a, 1);
    proxy.delayReplies(LAG);
    // The grants are heard of late, too.
    const cold = await msOf(() => a.many(idsFrom(COUNT), load, { lease: '60s' }));
    await stored(a, COUNT + 1);
    const hits = await msOf(() => a.many(idsFrom(COUNT), load));

    expect([Math.floor(cold / LAG), Math.floor(hits / LAG)]).toEqual([2, 1]);
  });
});
