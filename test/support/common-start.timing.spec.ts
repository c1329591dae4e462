import { join } from 'node:path';
import { startWorkers } from './processes.js';

type Example = typeof import('./example.worker.js');

describe('Workers.all', () => {
  it('starts the action in all processes within a few milliseconds', async () => {
    const workers = await startWorkers<Example>({ module: join(__dirname, 'example.worker.ts'), count: 4 });
    const spreads: number[] = [];
    for (let round = 0; round < 5; round++) {
      const instants = await workers.all('startedAt');
      const times = instants.map((instant) => Number(instant) / 1e6);
      spreads.push(Math.max(...times) - Math.min(...times));
    }
    await workers.stop();
    // The best of five: more processes than cores may be scheduled late, but not always.
    expect(Math.min(...spreads)).toBeLessThan(10);
  });
});
