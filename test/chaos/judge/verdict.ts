import { CONCURRENCY, LOAD_TIMEOUT, WAIT_TIMEOUT } from '../terms.js';
import type { Findings, Figures } from './figures.js';

/** Bounds of what must hold, ms and pieces. */
const MOST = {
  wrongValues: 0,
  unhandled: 0,
  hangingCalls: 0,
  otherErrors: 0,
  peakLoads: CONCURRENCY,
  missedRecoveries: 0,
  slowestRecovery: 5_000,
  /** Nobody waits for longer than for another process and then for a load. */
  slowestCall: WAIT_TIMEOUT + LOAD_TIMEOUT,
  /** In one client: what one process asks for within a call's patience, and no more. */
  peakQueue: 1_000,
  /** Two for each connection that was cut, one for each thing that was refused. */
  mostLines: 20,
  loopDelayP99: 150,
} as const satisfies Partial<Record<keyof Figures, number>>;

/** What did not hold; empty: all did. */
export function failures({ figures }: Findings): string[] {
  const names = Object.keys(MOST) as (keyof typeof MOST)[]; // the keys of a record are its names
  return names
    .filter((name) => !(figures[name] <= MOST[name]))
    .map((name) => `${name}: ${Math.round(figures[name])}, at most ${MOST[name]} may be`);
}

/** What a run must have done at least to prove anything. */
export type Least = Partial<Record<keyof Figures, number>>;

export const leastOf = (seconds: number, kinds: number): Least => ({
  illnesses: Math.max(3, Math.floor(seconds / 10)),
  kinds: seconds >= 90 ? kinds : 3,
  calls: seconds * 200,
  hits: seconds * 30,
  loads: seconds * 20,
  unleasedLoads: seconds,
  changes: seconds * 3,
  failedChanges: 1,
  judged: seconds * 20,
  // It has to bind.
  peakLoads: CONCURRENCY,
});

/** Why a run proves nothing; empty: it does. */
export function vacuity({ figures }: Findings, least: Least): string[] {
  return Object.entries(least)
    .filter(([name, wanted]) => figures[name as keyof Figures] < wanted) // names of figures
    .map(
      ([name, wanted]) =>
        `vacuous: only ${figures[name as keyof Figures]} ${name}, at least ${wanted} are needed`,
    );
}
