import { toMilliseconds, type Duration } from './duration.js';
import type { FrameworkErrors } from './entry/index.js';
import { ConfigurationError } from './errors.js';
import { resolveLoads, type GuardLimits, type LoadsOptions } from './guard/index.js';
import type { KeyPart } from './keys/index.js';
import { resolveNear, type NearLimits, type NearOptions } from './near/index.js';
import type { AnyPolicy } from './policy/index.js';
import type { Runtime } from './ports.js';
import { show } from './show.js';
import type { Store } from './store.js';
import { wholeNumber } from './whole-number.js';

/** How processes learn of each other's changes. */
export interface CoherenceOptions {
  /** The longest another process takes to heed `clear` and invalidations of tags. @default '1s' */
  readonly maxLag?: Duration;
  /**
   * How copies in the process (`l1`) learn of changes: by messages of this package's own, or besides by `tracking`: Redis
   * itself tells of each change of an entry's key, also of evictions, a flush and deletions by hand. Where it does not, one
   * warning says so. @default 'messages'
   */
  readonly mode?: 'messages' | 'tracking';
}

/** The options of a cache that do not depend on its surroundings. */
export interface CacheOptions {
  /** Defaults under every entry's own policy. @default none */
  readonly policy?: AnyPolicy;
  /** The load guard. */
  readonly loads?: LoadsOptions;
  /** Budget of the read and the acquire of one call; beyond it the call goes on without Redis. @default '100ms' */
  readonly redisTimeout?: Duration;
  /** Budget of one write: publishing, off the request path; `set`; invalidation. @default '1s' */
  readonly redisWriteTimeout?: Duration;
  /** How soon changes by tag and `clear` are heeded elsewhere. */
  readonly coherence?: CoherenceOptions;
  /** Copies of hot entries in this process; without Redis, the bounds of the in-process store. @default false: none */
  readonly l1?: NearOptions | false;
  /** A key part that every key carries, read in the caller's async context; undefined throws. @default none */
  readonly vary?: () => KeyPart;
  /** Read in the caller's async context: true goes straight to the method, nothing is read or stored. @default none */
  readonly bypass?: () => boolean;
  /** false: everything goes straight to the method. @default true */
  readonly enabled?: boolean;
  /** Larger values are returned and not stored, with one warning. @default 8 MiB */
  readonly maxValueBytes?: number;
}

/** The surroundings of a cache. */
export interface CacheParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly frameworkErrors?: FrameworkErrors;
  /** Who holds a lease, for `inspect`: host and process. */
  readonly holder: string;
}

export interface ResolvedCacheOptions {
  readonly policy: AnyPolicy | undefined;
  readonly loads: GuardLimits;
  readonly redisTimeout: number;
  readonly redisWriteTimeout: number;
  readonly coherence: ResolvedCoherence;
  readonly l1: NearLimits | undefined;
  readonly vary: (() => KeyPart) | undefined;
  readonly bypass: (() => boolean) | undefined;
  readonly enabled: boolean;
  readonly maxValueBytes: number;
}

/** Validates and fills in. @throws ConfigurationError naming the option and the value received */
export function resolveCacheOptions(options: CacheOptions): ResolvedCacheOptions {
  const loads = resolveLoads(options.loads);
  checkPool(options.policy?.pool, loads, 'policy');
  return {
    policy: options.policy,
    loads,
    redisTimeout: positive(options.redisTimeout ?? 100, 'redisTimeout'),
    redisWriteTimeout: positive(options.redisWriteTimeout ?? 1_000, 'redisWriteTimeout'),
    coherence: resolveCoherence(options.coherence),
    l1: resolveNear(options.l1, 'l1'),
    vary: fn(options.vary, 'vary'),
    bypass: fn(options.bypass, 'bypass'),
    enabled: flag(options.enabled, 'enabled'),
    maxValueBytes: wholeNumber(options.maxValueBytes, 'maxValueBytes', 8 * 1024 * 1024, 1),
  };
}

/** @throws ConfigurationError for the name of no pool */
export function checkPool(pool: unknown, { pools }: GuardLimits, where: string): void {
  if (pool === undefined || (typeof pool === 'string' && pools.has(pool))) return;
  const known = [...pools.keys()].map(show).join(', ');
  throw new ConfigurationError(
    `${where}: pool ${show(pool)} is unknown; known: ${known}. Name it in forRoot({ loads: { pools: { … } } }).`,
  );
}

/** Zero would turn the cache off without a word. */
function positive(value: Duration, name: string): number {
  const ms = toMilliseconds(value, name);
  if (ms > 0) return ms;
  throw new ConfigurationError(
    `${name} is longer than 0, received ${show(value)}. To go without the cache use enabled: false.`,
  );
}

/** Below this a heartbeat would be all the process does. */
const SHORTEST_LAG = 20;

export interface ResolvedCoherence {
  readonly maxLag: number;
  readonly mode: 'messages' | 'tracking';
}

/** @throws ConfigurationError */
export function resolveCoherence(coherence: CoherenceOptions = {}): ResolvedCoherence {
  if (typeof coherence !== 'object' || coherence === null) {
    throw new ConfigurationError(
      `coherence is an object such as { maxLag: '1s' }, received ${show(coherence)}.`,
    );
  }
  const { maxLag = 1_000, mode = 'messages', ...others } = coherence;
  const [unknown] = Object.entries(others);
  if (unknown) {
    throw new ConfigurationError(
      `coherence.${unknown[0]} is unknown (${show(unknown[1])}); known: maxLag, mode.`,
    );
  }
  if (mode !== 'messages' && mode !== 'tracking') {
    throw new ConfigurationError(`coherence.mode is 'messages' or 'tracking', received ${show(mode)}.`);
  }
  const lag = toMilliseconds(maxLag, 'coherence.maxLag');
  if (lag >= SHORTEST_LAG) return { maxLag: lag, mode };
  throw new ConfigurationError(
    `coherence.maxLag is a duration of at least ${SHORTEST_LAG} ms, received ${show(maxLag)}.`,
  );
}

function flag(value: unknown, name: string): boolean {
  if (value === undefined) return true;
  if (typeof value === 'boolean') return value;
  throw new ConfigurationError(`${name} is true or false, received ${show(value)}.`);
}

function fn<F>(value: F | undefined, name: string): F | undefined {
  if (value === undefined || typeof value === 'function') return value;
  throw new ConfigurationError(`${name} is a function, received ${show(value)}.`);
}
