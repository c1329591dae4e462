import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startWorkers, type Workers } from '../../support/processes.js';
import { RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';
import { measured } from './fleet.js';
import type { Look, Traffic } from './open-loop.worker.js';

type OpenLoopWorker = typeof import('./open-loop.worker.js');

const LIMIT = 100;
const LOAD = 200;
const QUEUE_TIMEOUT = 1_000;
const REDIS_TIMEOUT = 100;
/** What a busy machine may add to a wait, ms. */
const SLACK = 700;
const WARM_UP = 500;

const TRAFFIC: Traffic = {
  rate: 2_000,
  keys: 10_000,
  loadMs: LOAD,
  cached: true,
  policy: { ttl: '10m', jitter: 0, earlyRefresh: 0 },
};

const SHED: ReadonlySet<string> = new Set(['LoadRejectedError', 'WaitTimeoutError']);

let redis: RedisServer;
let workers: Workers<OpenLoopWorker>;

beforeAll(async () => {
  redis = await RedisServer.start();
  workers = await startWorkers<OpenLoopWorker>({ module: join(__dirname, 'open-loop.worker.ts'), count: 2 });
  const loads = { concurrency: LIMIT, queueTimeout: QUEUE_TIMEOUT };
  await workers.all('open', {
    url: redis.url,
    namespace: 'shop',
    options: { redisTimeout: REDIS_TIMEOUT, loads },
  });
}, 30_000);
afterAll(async () => {
  await workers.stop();
  await redis.stop();
});

/** What came of so many ms, after a moment in which the code is compiled. */
async function observe(worker: number, ms: number): Promise<Look[]> {
  await delay(WARM_UP);
  const first = await workers.call(worker, 'look');
  await delay(ms);
  return [first, await workers.call(worker, 'look')];
}

const errorsOf = ({ errors }: Look): string[] => Object.keys(errors);

describe('Redis gone, 2,000 calls a second over 10,000 cold keys, a load of 200 ms', () => {
  it('leaves the origin its limit and the process its breath, and heals under the same traffic', async () => {
    await workers.call(1, 'begin', { ...TRAFFIC, cached: false });
    const plain = await observe(1, 2_000);
    const control = await workers.call(1, 'end');

    await redis.kill();
    await workers.call(0, 'begin', TRAFFIC);
    const gone = await observe(0, 4_000);
    const away = [...gone];
    await redis.restart();
    const back = performance.now();
    let hits = 0;
    const areBack = async (): Promise<boolean> => {
      const look = await workers.call(0, 'look');
      gone.push(look);
      return (hits += look.outcomes['fresh'] ?? 0) >= 100;
    };
    await until(areBack, { what: 'hits to come again', timeout: 10_000, every: 100 });
    const healed = performance.now() - back;
    const last = await workers.call(0, 'end');
    const delays = [plain, away].map((looks) => looks.at(-1)?.loopDelay ?? NaN);
    const slowest = Math.max(...away.map((look) => look.slowest));
    const loaded = away.reduce((sum, { outcomes }) => sum + (outcomes['loaded'] ?? 0), 0);
    measured('redis gone', { delays, slowest, loaded, peaks: [control.peak, last.peak], healed, hits });

    // The control: without the module the origin has four times the limit to bear.
    expect(control.peak).toBeGreaterThan(3 * LIMIT);
    expect(last.peak).toBeLessThanOrEqual(LIMIT);
    expect(last.peak).toBeGreaterThan(LIMIT / 2);
    expect([...gone, last].flatMap(errorsOf).filter((name) => !SHED.has(name))).toEqual([]);
    expect(loaded).toBeGreaterThan(1_000);
    expect(slowest).toBeLessThan(2 * REDIS_TIMEOUT + QUEUE_TIMEOUT + LOAD + SLACK);
    expect(delays[1]).toBeLessThan((delays[0] ?? NaN) + 30);
    expect(healed).toBeLessThan(5_000);
  }, 40_000);
});
