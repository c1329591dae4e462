import { join } from 'node:path';
import { RedisServer } from '../support/redis-server.js';
import { startWorkers, type Workers } from '../support/processes.js';
import { measured } from './fleet/fleet.js';

type Worker = typeof import('./memory-keys.worker.js');

/**
 * Keys in all. MEMORY_KEYS=2000000 is the full size, ten minutes and more: the second million may then add 2 MB, which is two
 * bytes a key. Fewer keys proportionally less, and what such a measurement errs by: a leak of one string a key shows.
 */
const KEYS = Number(process.env['MEMORY_KEYS'] ?? 8_000);
const ROUNDS = 4;
const MOST_PER_KEY = 2;
const NOISE = 300_000;
const WARM_UP = 4_000;

let workers: Workers<Worker>;
let redis: RedisServer;

beforeAll(async () => {
  redis = await RedisServer.start();
});
afterEach(() => workers.stop());
afterAll(() => redis.stop());

describe('Distinct keys through one process, half of them failing, some aborted', () => {
  it.each([
    ['the store of one process', KEYS, () => undefined],
    ['Redis', KEYS / 4, () => redis.url],
  ] as [string, number, () => string | undefined][])(
    'leave nothing behind: %s',
    async (store, keys, url) => {
      const module = join(__dirname, 'memory-keys.worker.ts');
      workers = await startWorkers<Worker>({ module, count: 1, execArgv: ['--expose-gc'] });
      const worker = workers.at(0);
      await worker.call('open', url());
      const round = Math.ceil(keys / ROUNDS);
      const used: number[] = [];
      // Until the code is compiled.
      await worker.call('spend', ROUNDS * round, Math.min(round, WARM_UP));
      for (let i = 0; i < ROUNDS; i++) {
        const ends = await worker.call('spend', i * round, round);
        expect(ends.failed).toBeGreaterThan(round * 0.45);
        expect(ends.aborted).toBeGreaterThan(round * 0.05);
        used.push(await worker.call('used'));
      }
      measured(`${keys} keys on ${store}`, { used });
      // What leaks grows with every round; what a measurement errs by goes up and down.
      const [first, second] = [used.slice(0, ROUNDS / 2), used.slice(ROUNDS / 2)];
      const growth = Math.min(...second) - Math.max(...first);
      expect(growth).toBeLessThan((keys / 2) * MOST_PER_KEY + NOISE);
      // Nor does a table of the cache's own keep what the keys were.
      expect(await worker.call('largest')).toBeLessThan(keys / 10);
    },
    KEYS > 100_000 ? 3_600_000 : 60_000,
  );
});
