import type { Class, TypeOption } from '../codec/index.js';
import type { Duration } from '../duration.js';
import type { KeyPart } from '../keys/index.js';
import type { CompressOptions } from './compress-option.js';

/** Turns values into bytes and back, for entries that name it. Another name in an entry is a miss. */
export interface Serializer {
  readonly name: string;
  encode(value: unknown): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

/** A thrown error that is an answer: a class, or a predicate. */
export type ErrorMatcher = Class | ((error: unknown) => boolean);

/**
 * How one entry lives. Every option falls back to the module's `policy`, then to the default named here. Durations are
 * milliseconds or carry their unit. `A` are the arguments of the cached method, or the parts of the key.
 */
export interface Policy<T = unknown, A extends readonly unknown[] = readonly unknown[]> {
  /**
   * Fresh for this long, from the end of the load. Required here or in the module's `policy`. As a function it is computed
   * per value; <= 0 then means "return it, store nothing". A static 0 coalesces and stores nothing.
   */
  readonly ttl?: Duration | ((value: T, ...args: A) => Duration);
  /**
   * After `ttl`, for this long: served at once while one caller in the fleet refreshes it; also served when the load fails.
   * @default 0
   */
  readonly stale?: Duration;
  /** Served, when the load fails, for this long after `ttl`. @default the value of `stale` */
  readonly staleIfError?: Duration;
  /** Life of "not found", at most `ttl`; 0 stores none. @default '10s' */
  readonly negativeTtl?: Duration;
  /** What counts as "not found". @default null and undefined */
  readonly isNegative?: (value: T) => boolean;
  /** Thrown errors that are answers: stored for `negativeTtl` and thrown again alike. @default none */
  readonly negativeErrors?: ErrorMatcher | readonly ErrorMatcher[];
  /** Whether a value may be stored; it reaches its caller either way. @default always */
  readonly cacheIf?: (value: T) => boolean;
  /**
   * Each write's `ttl` or `negativeTtl` is shortened by a random share of up to this much (a fraction in 0..1), or by up to
   * this Duration. @default 0.1
   */
  readonly jitter?: number | Exclude<Duration, number>;
  /**
   * XFetch's beta: a fresh hit refreshes early, the likelier the nearer its expiry and the dearer its load; 0 is off.
   * `{ window }`: with linear probability over the last stretch instead. @default 1
   */
  readonly earlyRefresh?: number | { readonly window: Duration };
  /**
   * `'fleet'`: one loader in the fleet. `'process'`: no lease, one loader a process. `'none'`: plain cache-aside. The last
   * two write unfenced. @default 'fleet'
   */
  readonly coordinate?: 'fleet' | 'process' | 'none';
  /** `false` is "not found" without Redis or load. @default none */
  readonly mayExist?: (...args: A) => boolean | Promise<boolean>;
  /** How long the fleet believes a loader that went silent; renewed while its load runs. @default '3s' */
  readonly lease?: Duration;
  /** The load is abandoned after this: its signal aborts, its result is dropped. @default '30s' */
  readonly loadTimeout?: Duration;
  /** Past `stale` but within `staleIfError`, a caller waits this long for the load, then takes its own old value. @default none */
  readonly softTimeout?: Duration;
  /**
   * The longest a caller waits for another process or for a slot; past it, it takes its copy of a large value out of turn.
   * @default the value of `loadTimeout`
   */
  readonly waitTimeout?: Duration;
  /** After `waitTimeout` with nothing stale: reject, or load once per process and key, not stored. @default 'error' */
  readonly onWaitTimeout?: 'error' | 'load';
  /** The last caller has gone: finish and store, or abort. @default 'finish' */
  readonly abandon?: 'finish' | 'abort';
  /** After a failed load, while a stale value exists, its refreshes rest this long in the fleet, doubling to 30 s. @default '1s' */
  readonly failureBackoff?: Duration;
  /** Without Redis: load from the origin, or reject with `CacheUnavailableError`. @default 'load' */
  readonly onRedisDown?: 'load' | 'error';
  /** The degraded answer instead of any error of the module or the load; never stored. @default none */
  readonly fallback?: (error: unknown, ...args: A) => T | Promise<T>;
  /** A value that can't be stored faithfully rejects, or is delivered and not stored. @default 'error' */
  readonly onUncacheable?: 'error' | 'bypass';
  /**
   * Names under which `invalidateTags` and `expireTags` reach this entry, known before the load. At most 16 an entry,
   * `valueTags` and `ctx.tags` included. @default none
   */
  readonly tags?: readonly string[] | ((...args: A) => readonly string[]);
  /**
   * The same, known only from the value. An invalidation of such a tag during the load, or in the 2 s before it, keeps the
   * value from being stored. Not called for null and undefined. @default none
   */
  readonly valueTags?: (value: NonNullable<T>, ...args: A) => readonly string[];
  /** The class whose instances the value holds, or a map of paths such as `{ 'items[].price': Decimal }`. @default none */
  readonly type?: TypeOption;
  /** Error classes that travel between processes as themselves. @default none, HttpExceptions always do */
  readonly errors?: readonly Class[];
  /** Replaces the built-in codec. @default none */
  readonly serializer?: Serializer;
  /** `true`: all callers share one deep-frozen value instead of owning a copy each. @default false */
  readonly shared?: boolean;
  /**
   * Large values lie compressed in the store; who reads them needs no option. `true`: with the defaults of `CompressOptions`.
   * @default false
   */
  readonly compress?: boolean | CompressOptions;
  /**
   * Whether this process keeps a copy of the fresh entry, and the longest it believes one; the module's `l1` bounds them all.
   * `true`: for as long as that says. @default whether the module has `l1`
   */
  readonly l1?: boolean | { readonly ttl: Duration };
  /** The pool of the load guard that its loads belong to, one of `loads.pools`. @default 'default', the one of `loads` itself */
  readonly pool?: string;
  /** A key part of this entry instead of the module's `vary`; `false` opts out. @default the module's */
  readonly vary?: KeyPart | (() => KeyPart) | false;
}
