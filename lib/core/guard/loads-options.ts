import { toMilliseconds, type Duration } from '../duration.js';
import { ConfigurationError } from '../errors.js';
import { show } from '../show.js';
import { wholeNumber } from '../whole-number.js';
import { DEFAULT_POOL, type BreakerLimits, type GuardLimits, type PoolLimits } from './limits.js';

/** When a breaker opens. */
export interface BreakerOptions {
  /** The share of failed loads that opens it, above 0 and at most 1. @default 0.5 */
  readonly threshold?: number;
  /** The stretch of time that is looked at, at least 100 ms. @default '10s' */
  readonly window?: Duration;
  /** Fewer loads than this within `window` never open it. @default 20 */
  readonly minimum?: number;
  /** How long it stays open before one load tries the origin, above 0. @default '5s' */
  readonly halfOpenAfter?: Duration;
}

/** What stands in front of one origin, per process. */
export interface PoolOptions {
  /** Loads at once. @default 100 */
  readonly concurrency?: number;
  /** Loads waiting for a slot; beyond it they are shed. @default 10000 */
  readonly queue?: number;
  /** The longest a load waits for a slot. @default '1s' */
  readonly queueTimeout?: Duration;
  /** Stops calling an origin that fails; `false`: never. @default on: 50 % of at least 20 loads within 10 s, for 5 s */
  readonly breaker?: BreakerOptions | false;
}

/** The load guard: what stands in front of the origin, per process. */
export interface LoadsOptions extends PoolOptions {
  /** Callers waiting for anything, in all pools together. @default 50000 */
  readonly waiters?: number;
  /** Slots, a queue and a breaker apart for entries with this `pool`. What is left out is as in `loads`. @default none */
  readonly pools?: Readonly<Record<string, PoolOptions>>;
}

const POOL = ['concurrency', 'queue', 'queueTimeout', 'breaker'];
const LOADS = [...POOL, 'waiters', 'pools'];
const BREAKER = ['threshold', 'window', 'minimum', 'halfOpenAfter'];
const SHORTEST_WINDOW = 100;

const DEFAULTS: PoolLimits = {
  concurrency: 100,
  queue: 10_000,
  queueTimeout: 1_000,
  breaker: { threshold: 0.5, window: 10_000, minimum: 20, halfOpenAfter: 5_000 },
};

/** Validates and fills in. @throws ConfigurationError naming the option and the value received */
export function resolveLoads(loads: LoadsOptions = {}): GuardLimits {
  checkNames(loads, 'loads', LOADS, '{ concurrency: 100 }');
  const own = poolOf(loads, 'loads', DEFAULTS);
  const pools = new Map([[DEFAULT_POOL, own]]);
  const given = loads.pools ?? {};
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw new ConfigurationError(
      `loads.pools is an object such as { reports: { concurrency: 5 } }, received ${show(given)}.`,
    );
  }
  for (const [name, pool] of Object.entries(given)) {
    const where = `loads.pools.${name}`;
    if (name === DEFAULT_POOL || name === '') {
      throw new ConfigurationError(
        `${where}: ${show(name)} can't name a pool; the options of loads themselves are the pool '${DEFAULT_POOL}'.`,
      );
    }
    checkNames(pool, where, POOL, '{ concurrency: 5 }');
    pools.set(name, poolOf(pool, where, own));
  }
  return { waiters: wholeNumber(loads.waiters, 'loads.waiters', 50_000, 1), pools };
}

function poolOf(pool: PoolOptions, where: string, defaults: PoolLimits): PoolLimits {
  return {
    concurrency: wholeNumber(pool.concurrency, `${where}.concurrency`, defaults.concurrency, 1),
    queue: wholeNumber(pool.queue, `${where}.queue`, defaults.queue, 0),
    queueTimeout: toMilliseconds(pool.queueTimeout ?? defaults.queueTimeout, `${where}.queueTimeout`),
    breaker: breakerOf(pool.breaker, `${where}.breaker`, defaults.breaker),
  };
}

/** What a pool leaves out of its breaker is as in `loads`, or the default where that has none. */
function breakerOf(
  given: BreakerOptions | false | undefined,
  where: string,
  inherited: BreakerLimits | false,
): BreakerLimits | false {
  if (given === false) return false;
  if (given === undefined) return inherited;
  checkNames(given, where, BREAKER, '{ threshold: 0.5 } or false');
  const defaults = inherited || (DEFAULTS.breaker as BreakerLimits); // the defaults have one
  const { threshold = defaults.threshold } = given;
  if (typeof threshold !== 'number' || !(threshold > 0 && threshold <= 1)) {
    throw new ConfigurationError(
      `${where}.threshold is a share above 0 and at most 1, received ${show(threshold)}.`,
    );
  }
  return {
    threshold,
    window: duration(given.window ?? defaults.window, `${where}.window`, SHORTEST_WINDOW),
    minimum: wholeNumber(given.minimum, `${where}.minimum`, defaults.minimum, 1),
    halfOpenAfter: duration(given.halfOpenAfter ?? defaults.halfOpenAfter, `${where}.halfOpenAfter`, 1),
  };
}

function duration(value: Duration, where: string, least: number): number {
  const ms = toMilliseconds(value, where);
  if (ms >= least) return ms;
  throw new ConfigurationError(`${where} is a duration of at least ${least} ms, received ${show(value)}.`);
}

function checkNames(value: unknown, where: string, known: readonly string[], example: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigurationError(`${where} is an object such as ${example}, received ${show(value)}.`);
  }
  const unknown = Object.entries(value).find(([name, given]) => given !== undefined && !known.includes(name));
  if (unknown === undefined) return;
  throw new ConfigurationError(
    `${where}.${unknown[0]} is unknown; known: ${known.join(', ')}, received ${show(unknown[1])}.`,
  );
}
