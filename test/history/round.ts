import { setTimeout as delay } from 'node:timers/promises';
import type { CacheOptions } from '../../lib/core/cache-options.js';
import { catalogue } from './catalogue.js';
import { check, type Ruling } from './check/index.js';
import { machineNow } from './clock.js';
import { injectFaults } from './faults.js';
import { HistoryFleet } from './fleet.js';
import { historyOf, type History, type Limits } from './history.js';
import { Random, seedOf } from './random.js';

export interface RoundOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly processes?: number;
  /** The root of the sources under test. Default: this project's. */
  readonly root?: string;
}

export interface Round {
  readonly seed: number;
  readonly history: History;
  readonly ruling: Ruling;
}

/** Random clients of one process. */
const CLIENTS = 5;
const MAX_LAG = 120;
const REDIS_WRITE_TIMEOUT = 1_000;
const CONCURRENCY = 5;

export const OPTIONS: CacheOptions = {
  redisTimeout: 250,
  redisWriteTimeout: REDIS_WRITE_TIMEOUT,
  coherence: { maxLag: MAX_LAG },
  loads: { concurrency: CONCURRENCY, queue: 200, queueTimeout: 400 },
};

/** In a third of the schedules the processes keep copies of hot entries. */
const keepsCopies = (seed: number): boolean => seed % 3 === 0;

/** In half of those Redis itself tells of changes, too. */
const coherenceOf = (seed: number): CacheOptions['coherence'] => ({
  maxLag: MAX_LAG,
  mode: seed % 6 === 0 ? 'tracking' : 'messages',
});

export const limits = (seed = 1): Limits => ({
  catalogue: catalogue(),
  concurrency: CONCURRENCY,
  maxLag: MAX_LAG,
  keyLag: keepsCopies(seed) ? MAX_LAG : 0,
  redisWriteTimeout: REDIS_WRITE_TIMEOUT,
});

/** One random schedule, from its seed to the verdict. The seed decides who does what and when; the machine the rest. */
export async function runRound({ seed, seconds, processes = 4, root }: RoundOptions): Promise<Round> {
  const random = new Random(seedOf(seed, -1));
  const proxied = [0, 1];
  const bounds = limits(seed);
  // In half of the schedules two builds are at work, each with entries of its own.
  const versionOf = (index: number): string | undefined =>
    seed % 4 >= 2 && index % 2 === 1 ? 'next' : undefined;
  const { catalogue: keys } = bounds;
  const fleet = await HistoryFleet.start({
    processes,
    proxied,
    catalogue: keys,
    options: keepsCopies(seed) ? { ...OPTIONS, l1: {}, coherence: coherenceOf(seed) } : OPTIONS,
    root,
    versionOf,
  });
  let history: History;
  try {
    // In half of the schedules replies come late: windows of microseconds become wide.
    const late = new Random(seedOf(seed, -2));
    if (seed % 2 === 1)
      for (const index of proxied) fleet.proxy(index).delayReplies(() => late.between(5, 20));
    const end = machineNow() + seconds * 1_000;
    const clients = keepClients(fleet, seed, end);
    await injectFaults(fleet, random, end, { freeze: [300, 700], proxied });
    await Promise.all([clients, delay(Math.max(0, end - machineNow()))]);
    for (const index of proxied) fleet.proxy(index).resume();
    await fleet.quiesce();
    history = historyOf(fleet.records(), bounds);
  } finally {
    await fleet.stop();
  }
  return { seed, history, ruling: check(history) };
}

/** Every process, also one that replaces another, gets its clients. */
async function keepClients(fleet: HistoryFleet, seed: number, end: number): Promise<void> {
  const started = new Map<number, number>();
  while (machineNow() < end) {
    for (let index = 0; index < fleet.size; index++) {
      const incarnation = fleet.opened(index);
      if (started.get(index) === incarnation) continue;
      started.set(index, incarnation);
      const worker = fleet.at(index);
      // Killed meanwhile: its successor gets clients of its own.
      await worker.call('start', CLIENTS, seedOf(seed, index, incarnation)).catch(() => undefined);
    }
    await delay(20);
  }
}
