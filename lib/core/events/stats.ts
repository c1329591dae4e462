import type { Outcome } from '../outcome.js';

/** One pool of the load guard. */
export interface PoolStats {
  readonly slots: number;
  readonly queued: number;
  /** `open`: its origin fails, nothing is loaded. `half-open`: one load tries. `off`: it has none. */
  readonly breaker: 'closed' | 'open' | 'half-open' | 'off';
}

/** Counters since the cache was made, and how much is under way now. */
export interface StampedeCacheStats {
  /** Answers by how they came. */
  readonly outcomes: Readonly<Record<Outcome, number>>;
  readonly misses: number;
  /** Loads started, by what became of them; their difference runs now. */
  readonly loads: { readonly started: number; readonly succeeded: number; readonly failed: number };
  readonly publishes: { readonly stored: number; readonly fenced: number; readonly skipped: number };
  readonly invalidations: number;
  readonly leasesLost: number;
  readonly waitTimeouts: number;
  readonly rejected: number;
  /** Calls that went on without the store because it failed or was too slow. */
  readonly storeFailures: number;
  readonly active: {
    readonly flights: number;
    readonly refreshes: number;
    /** Invalidations that the store has not acknowledged yet. */
    readonly unsettled: number;
    readonly slots: number;
    readonly queued: number;
    readonly callers: number;
  };
  /** Copies in this process: how many, their bytes, hits they answered, and how often all were dropped for a gap. */
  readonly l1: {
    readonly entries: number;
    readonly bytes: number;
    readonly hits: number;
    readonly flushes: number;
  };
  /** The pools of the load guard by name: `default` and those of `loads.pools`. */
  readonly pools: Readonly<Record<string, PoolStats>>;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends object ? Mutable<T[K]> : T[K] };

/** The counters alone; what is under way is asked of those who know. */
export type Counters = Mutable<Omit<StampedeCacheStats, 'active' | 'pools' | 'l1'>>;

export function newCounters(): Counters {
  return {
    outcomes: {
      fresh: 0,
      stale: 0,
      early: 0,
      negative: 0,
      loaded: 0,
      joined: 0,
      waited: 0,
      bypassed: 0,
      fallback: 0,
    },
    misses: 0,
    loads: { started: 0, succeeded: 0, failed: 0 },
    publishes: { stored: 0, fenced: 0, skipped: 0 },
    invalidations: 0,
    leasesLost: 0,
    waitTimeouts: 0,
    rejected: 0,
    storeFailures: 0,
  };
}
