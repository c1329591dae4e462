import { join } from 'node:path';
import { RedisServer } from '../support/redis-server.js';
import { startWorkers } from '../support/processes.js';
import { until } from '../support/until.js';

type Worker = typeof import('./support/outages.worker.js');

describe('FC-012: Redis goes away and comes back five times', () => {
  it('nothing is unhandled, callers get values throughout, and the log has one line per change', async () => {
    const redis = await RedisServer.start();
    const workers = await startWorkers<Worker>({
      module: join(__dirname, 'support', 'outages.worker.ts'),
      count: 1,
      execArgv: ['--unhandled-rejections=strict'],
    });
    try {
      await workers.call(0, 'open', redis.url);
      for (let outage = 1; outage <= 5; outage += 1) {
        await redis.kill();
        const down = async () => (await workers.call(0, 'ask', `down-${outage}`)).changes.down === outage;
        await until(down, { what: `outage ${outage} to be noticed` });
        await redis.restart();
        const up = async () => (await workers.call(0, 'ask', `up-${outage}`)).changes.up === outage + 1;
        await until(up, { timeout: 5_000, what: `return ${outage} to be noticed` });
      }
      // The other connection too: it hears what is invalidated.
      const { values, errors, changes, unhandled, lines } = await workers.call(0, 'ask', 'last');
      expect({ errors, changes, unhandled }).toEqual({
        errors: [],
        changes: { up: 6, down: 5 },
        unhandled: [],
      });
      expect(values).toBeGreaterThan(10);
      expect(lines).toHaveLength(11);
    } finally {
      await workers.stop();
      await redis.stop();
    }
  });
});
