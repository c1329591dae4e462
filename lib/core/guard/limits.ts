/** When a pool's breaker opens, and for how long. */
export interface BreakerLimits {
  /** The share of failures that opens it, above 0 and at most 1. */
  readonly threshold: number;
  /** The stretch of time that is looked at, ms. */
  readonly window: number;
  /** Fewer loads than this within the window say nothing. */
  readonly minimum: number;
  /** How long it stays open before one load tries, ms. */
  readonly halfOpenAfter: number;
}

/** What stands in front of one origin, per process. */
export interface PoolLimits {
  /** Loads at once. */
  readonly concurrency: number;
  /** Loads waiting for a slot. */
  readonly queue: number;
  /** The longest a load waits for a slot, ms. Short: a long queue in front of an ill origin serves everybody too late. */
  readonly queueTimeout: number;
  /** `false`: none. */
  readonly breaker: BreakerLimits | false;
}

export interface GuardLimits {
  /** Callers waiting for anything, whatever their pool. */
  readonly waiters: number;
  /** By name; {@link DEFAULT_POOL} is always among them. */
  readonly pools: ReadonlyMap<string, PoolLimits>;
}

/** The pool of every entry that names no other. */
export const DEFAULT_POOL = 'default';
