import type { Workers } from '../../support/processes.js';
import type { DataSource, LoadPlan } from './data-source.js';

/** What a worker module must export for its control. */
export interface ControlWorker {
  plainReads(key: string, callers: number): Promise<number>;
  plainLoads(key: string, missed: number, plan: LoadPlan): Promise<void>;
}

/**
 * The control of every stampede test: plain cache-aside on a key of its own, by `callers` callers a process, all of whom
 * read before the first writes. Without a stampede here the test demonstrates nothing.
 */
export async function control(
  workers: Workers<ControlWorker>,
  source: DataSource,
  key: string,
  callers: number,
): Promise<void> {
  const missed = await workers.all('plainReads', key, callers);
  await workers.allWith('plainLoads', (index) => [key, missed[index] ?? 0, { ms: 20 }]);
  const loads = await source.count(`plain:${key}`);
  const wanted = callers * workers.count;
  if (loads !== wanted) {
    throw new Error(`The control shows ${loads} loads instead of ${wanted}: this test demonstrates nothing.`);
  }
}
