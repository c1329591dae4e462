import { DIRECTED } from './catalogue.js';
import { check, type Ruling } from './check/index.js';
import { HistoryFleet, type HistoryFleetOptions } from './fleet.js';
import { historyOf, type History } from './history.js';
import { MAX_LAG, SCHEDULES, type ScheduleName } from './schedules.js';

const REDIS_TIMEOUT = 1_500;
const REDIS_WRITE_TIMEOUT = 5_000;

/** Two processes; the first one's connection to Redis can be held. */
const fleetOf = (concurrency: number): Omit<HistoryFleetOptions, 'root'> => ({
  processes: 2,
  proxied: [0],
  catalogue: DIRECTED,
  options: {
    redisTimeout: REDIS_TIMEOUT,
    redisWriteTimeout: REDIS_WRITE_TIMEOUT,
    coherence: { maxLag: MAX_LAG },
    loads: { concurrency, queue: 100, queueTimeout: 15_000 },
  },
});

export interface DirectedOptions {
  /** The root of the sources under test. Default: this project's. */
  readonly root?: string;
  /** Default: one load at a time, so that a schedule can keep a call between its read and its question for the lease. */
  readonly concurrency?: number;
}

/** Runs schedules one after the other on a fleet of their own, and judges them together. */
export async function runDirected(
  names: readonly ScheduleName[],
  { root, concurrency = 1 }: DirectedOptions = {},
): Promise<{ readonly history: History; readonly ruling: Ruling }> {
  const fleet = await HistoryFleet.start({ ...fleetOf(concurrency), ...(root !== undefined && { root }) });
  try {
    for (const name of names) await SCHEDULES[name](fleet);
    await fleet.quiesce();
    const history = historyOf(fleet.records(), {
      catalogue: DIRECTED,
      concurrency,
      maxLag: MAX_LAG,
      keyLag: 0,
      redisWriteTimeout: REDIS_WRITE_TIMEOUT,
    });
    return { history, ruling: check(history) };
  } finally {
    await fleet.stop();
  }
}
