import { request } from 'node:http';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { RedisServer } from '../support/redis-server.js';
import { startWorkers, type Workers } from '../support/processes.js';
import { until } from '../support/until.js';
import type { Failure } from './shutdown.worker.js';

type Worker = typeof import('./shutdown.worker.js');
const module_ = join(__dirname, 'shutdown.worker.ts');

let redis: RedisServer;
let raw: Redis;
let workers: Workers<Worker>;

beforeAll(async () => {
  redis = await RedisServer.start();
  raw = redis.client();
});

afterAll(() => redis.stop());

beforeEach(async () => {
  if (redis.running) await raw.flushall();
});

async function start(count = 1): Promise<Workers<Worker>> {
  workers = await startWorkers<Worker>({ module: module_, count });
  return workers;
}

afterEach(async () => {
  // Each must end by itself: whatever still keeps one alive is a failure.
  await workers.stop(3_000);
});

const connections = async (): Promise<number> =>
  String(await raw.call('CLIENT', 'LIST'))
    .trim()
    .split('\n').length - 1;

const leases = async (): Promise<string[]> => {
  const names = await raw.keys('shop:l:*');
  const states = await Promise.all(names.map((name) => raw.getrange(name, 0, 0)));
  return names.filter((_, i) => states[i] === 'L');
};

/** One by one: a common start would be a timer of its own. ioredis gives a dying socket 100 ms. */
async function nothingLeft(): Promise<void> {
  let left: readonly string[] = [];
  const look = async (): Promise<boolean> => {
    left = (await Promise.all(workers.list.map((worker) => worker.call('resources')))).flat();
    return left.length === 0;
  };
  await until(look, { timeout: 1_500, every: 20, what: 'nothing to be left' }).catch(() => undefined);
  expect(left).toEqual([]);
}

/** Without keep-alive: an idle connection of the client's would hold up the server. */
const get = (url: string, path: string): Promise<{ status: number | undefined; body: unknown }> =>
  new Promise((resolve, reject) => {
    request(`${url}/${path}`, { agent: false }, (response) => {
      let text = '';
      response.on('data', (bytes: Buffer) => (text += bytes.toString()));
      response.on('end', () => resolve({ status: response.statusCode, body: JSON.parse(text) as unknown }));
    })
      .on('error', reject)
      .end();
  });

describe('SIGTERM', () => {
  it('answers the callers, stores what they wait for and what is refreshed, gives the leases back, and exits', async () => {
    await start();
    const worker = workers.at(0);
    const url = await worker.call('open', { redis: redis.url });
    await get(url, 'refreshed/r/0');
    expect(await get(url, 'refreshed/r/500')).toEqual({ status: 200, body: { id: 'r' } });
    const calls = Array.from({ length: 20 }, (_, i) => get(url, `find/${i % 10}/500`));
    await until(async () => (await worker.call('callers')) === 20, { what: '20 callers' });
    await until(async () => (await leases()).length === 11, { what: '10 loads and a refresh' });
    const [before] = await entryTimes('refreshed');
    const began = performance.now();
    worker.signal('SIGTERM');
    expect(await Promise.all(calls)).toEqual(
      Array.from({ length: 20 }, (_, i) => ({ status: 200, body: { id: String(i % 10) } })),
    );
    expect(await worker.exited).toEqual({ code: 0, signal: null });
    expect(performance.now() - began).toBeLessThan(3_000);
    expect(worker.stderr).toBe('');
    expect(await raw.keys('shop:d:{Products.find:*')).toHaveLength(10);
    expect((await entryTimes('refreshed'))[0]).not.toEqual(before);
    expect(await leases()).toEqual([]);
    await until(async () => (await connections()) === 0, { what: 'no connection' });
  });
});

/** The header of each entry of a method: it changes with every load. */
async function entryTimes(method: string): Promise<string[]> {
  const names = await raw.keys(`shop:d:{Products.${method}:*`);
  return Promise.all(names.map((name) => raw.getrange(name, 0, 60)));
}

describe('close()', () => {
  it('three times at once and once more is the same as once, and leaves nothing', async () => {
    await start();
    const url = await workers.call(0, 'open', { redis: redis.url });
    await get(url, 'find/1/0');
    await get(url, 'refreshed/1/0');
    await get(url, 'refreshed/1/50');
    expect(await workers.call(0, 'close', 3)).toBeLessThan(2_000);
    await nothingLeft();
    expect(await workers.call(0, 'report')).toMatchObject({ unhandled: [], warnings: [] });
    expect(await workers.call(0, 'invalidate', '1')).toBe('InvalidationError');
    await until(async () => (await connections()) === 0, { what: 'no connection' });
  });

  it.each(['killed', 'frozen'] as const)(
    'takes less than 2 s while Redis is %s, with a load and a change that are not acknowledged',
    async (illness) => {
      const own = await RedisServer.start();
      try {
        await start();
        const url = await workers.call(0, 'open', { redis: own.url });
        await get(url, 'find/1/0');
        if (illness === 'killed') await own.kill();
        else own.pause();
        expect((await get(url, 'find/2/50')).status).toBe(200);
        expect(await workers.call(0, 'invalidate', '1')).toBe('InvalidationError');
        expect(await workers.call(0, 'close', 2)).toBeLessThan(2_000);
        await nothingLeft();
        expect(await workers.call(0, 'report')).toMatchObject({ unhandled: [], warnings: [] });
      } finally {
        await own.stop();
      }
    },
  );
});

describe('A bootstrap that fails', () => {
  const FAILURES: readonly [Failure, RegExp][] = [
    ['early call, then a factory that throws', /another provider failed/],
    ['early call, then onModuleInit that throws', /another provider failed/],
    ['onApplicationBootstrap of another module', /another provider failed/],
    ['our ConfigurationError', /Bad\.find: ttl/],
    ['requireRedis', /ECONNREFUSED.*requireRedis/],
  ];

  it('leaves nothing behind, on a client of its own and on one handed in, and the process ends', async () => {
    await start();
    for (const [failure, message] of FAILURES) {
      const url = failure === 'requireRedis' ? 'redis://127.0.0.1:1' : redis.url;
      for (const shared of [false, true]) {
        const { error, before, after } = await workers.call(0, 'failToStart', failure, url, shared);
        expect([failure, error]).toEqual([failure, expect.stringMatching(message)]);
        expect([failure, after]).toEqual([failure, before]);
        await nothingLeft();
      }
    }
    expect(await workers.call(0, 'report')).toMatchObject({ unhandled: [], warnings: [] });
    await until(async () => (await connections()) === 0, { what: 'no connection' });
  });
});

describe('Nothing is left', () => {
  it('of a testing module that was compiled and never initialised, closed or not', async () => {
    await start();
    for (const closed of [false, true]) await workers.call(0, 'compileOnly', redis.url, closed);
    await nothingLeft();
    expect(await connections()).toBe(0);
  });

  it('of 200 applications on one client: no listener, no warning', async () => {
    await start();
    const { before, after } = await workers.call(0, 'manyOn', redis.url, 200);
    expect(after).toEqual(before);
    expect(await workers.call(0, 'report')).toMatchObject({ unhandled: [], warnings: [] });
    await nothingLeft();
  });
});
