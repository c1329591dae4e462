import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { RedisServer } from '../support/redis-server.js';
import { startWorkers, type Workers } from '../support/processes.js';
import { until } from '../support/until.js';
import type { Ending } from './support/refresh.worker.js';

type Worker = typeof import('./support/refresh.worker.js');

let redis: RedisServer;
let raw: Redis;
let workers: Workers<Worker>;

beforeAll(async () => {
  redis = await RedisServer.start();
  raw = redis.client();
  workers = await startWorkers<Worker>({
    module: join(__dirname, 'support', 'refresh.worker.ts'),
    count: 1,
    execArgv: ['--unhandled-rejections=strict'],
  });
  await workers.call(0, 'open', redis.url);
});

afterAll(async () => {
  await workers.stop();
  await redis.stop();
});

describe('FC-013: a refresh in the background', () => {
  it.each<Ending>(['rejects', 'throws', 'cannot write'])(
    'that %s: the caller has the old value, the process lives, and it is told of once',
    async (ending) => {
      const id = ending.replace(' ', '-');
      await workers.call(0, 'prepare', undefined);
      expect(await workers.call(0, 'find', id)).toBe('old');
      await until(async () => (await workers.call(0, 'stale', id)) === true, {
        what: 'the entry to go stale',
      });
      if (ending === 'cannot write') await raw.config('SET', 'maxmemory', '1');
      await workers.call(0, 'prepare', ending);
      expect(await workers.call(0, 'find', id)).toBe('old');
      const told = () => workers.call(0, 'report', id);
      if (ending === 'cannot write') await until(refusals, { what: 'a refused write' });
      else await until(async () => (await told()).events.length > 0, { what: 'the end of the load' });
      await until(async () => (await told()).refreshes === 0, { what: 'the end of the refresh' });
      const { unhandled, events } = await told();
      expect(unhandled).toEqual([]);
      const expected = ending === 'cannot write' ? [] : [`load.error ${ending}`];
      expect(events.filter((event) => /load\.error|publish stored/.test(event))).toEqual(expected);
      await raw.config('SET', 'maxmemory', '0');
      expect(await workers.call(0, 'find', id)).toBe('old');
    },
  );
});

/** How many commands Redis refused for want of memory. */
async function refusals(): Promise<number> {
  return Number(/errorstat_OOM:count=(\d+)/.exec(await raw.info('errorstats'))?.[1] ?? 0);
}
