import { toMilliseconds, type Duration } from './duration.js';
import type { FrameworkErrors } from './entry/index.js';
import { ConfigurationError } from './errors.js';
import type { GuardLimits } from './guard/index.js';
import type { KeyPart } from './keys/index.js';
import type { AnyPolicy } from './policy/index.js';
import type { Runtime } from './ports.js';
import { show } from './show.js';
import type { Store } from './store.js';

/** What stands in front of the origin, per process. */
export interface LoadsOptions {
  /** Loads at once. @default 100 */
  readonly concurrency?: number;
  /** Loads waiting for a slot; beyond it they are shed. @default 10000 */
  readonly queue?: number;
  /** The longest a load waits for a slot. @default '1s' */
  readonly queueTimeout?: Duration;
  /** Callers waiting for anything. @default 50000 */
  readonly waiters?: number;
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
  readonly vary: (() => KeyPart) | undefined;
  readonly bypass: (() => boolean) | undefined;
  readonly enabled: boolean;
  readonly maxValueBytes: number;
}

const LOADS = new Set(['concurrency', 'queue', 'queueTimeout', 'waiters']);
const LOADS_NOT_YET = new Set(['breaker', 'pools']);

/** Validates and fills in. @throws ConfigurationError naming the option and the value received */
export function resolveCacheOptions(options: CacheOptions): ResolvedCacheOptions {
  return {
    policy: options.policy,
    loads: resolveLoads(options.loads),
    redisTimeout: toMilliseconds(options.redisTimeout ?? 100, 'redisTimeout'),
    redisWriteTimeout: toMilliseconds(options.redisWriteTimeout ?? 1_000, 'redisWriteTimeout'),
    vary: fn(options.vary, 'vary'),
    bypass: fn(options.bypass, 'bypass'),
    enabled: flag(options.enabled, 'enabled'),
    maxValueBytes: whole(options.maxValueBytes, 'maxValueBytes', 8 * 1024 * 1024, 1),
  };
}

function resolveLoads(loads: LoadsOptions = {}): GuardLimits {
  if (typeof loads !== 'object' || loads === null) {
    throw new ConfigurationError(`loads is an object such as { concurrency: 100 }, received ${show(loads)}.`);
  }
  for (const [name, value] of Object.entries(loads)) {
    // `false` asks for nothing.
    if (LOADS.has(name) || value === undefined || (LOADS_NOT_YET.has(name) && value === false)) continue;
    const why = LOADS_NOT_YET.has(name)
      ? 'is not supported in this version'
      : `is unknown; known: ${[...LOADS].join(', ')}`;
    throw new ConfigurationError(`loads.${name} ${why}, received ${show(value)}.`);
  }
  return {
    concurrency: whole(loads.concurrency, 'loads.concurrency', 100, 1),
    queue: whole(loads.queue, 'loads.queue', 10_000, 0),
    queueTimeout: toMilliseconds(loads.queueTimeout ?? 1_000, 'loads.queueTimeout'),
    waiters: whole(loads.waiters, 'loads.waiters', 50_000, 1),
  };
}

function whole(value: unknown, name: string, fallback: number, least: number): number {
  if (value === undefined) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least) return value;
  throw new ConfigurationError(`${name} is a whole number >= ${least}, received ${show(value)}.`);
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
