const BRAND = Symbol.for('nestjs-stampede-cache.error');

/** The base of every error this package makes. `code` is stable; `cause` is what lay beneath, if anything. */
export abstract class StampedeCacheError extends Error {
  abstract readonly code: string;
  readonly [BRAND] = true;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Whether `error` was made by this package, also by another copy of it. */
export function isStampedeCacheError(error: unknown): error is StampedeCacheError {
  return typeof error === 'object' && error !== null && BRAND in error;
}

/** An answer the cache could not give in time or for want of room: 503 over HTTP, safe to show. */
abstract class ServiceUnavailableError extends StampedeCacheError {
  readonly status = 503;
  readonly statusCode = 503;
  readonly expose = true;

  /** `retryAfter`: when trying again makes sense, ms. */
  constructor(
    message: string,
    readonly retryAfter: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The load ran longer than `loadTimeout` and was abandoned. */
export class LoadTimeoutError extends ServiceUnavailableError {
  readonly code = 'LOAD_TIMEOUT';
}

/** Another process, or a slot of the load guard, was waited for longer than `waitTimeout`. */
export class WaitTimeoutError extends ServiceUnavailableError {
  readonly code = 'WAIT_TIMEOUT';
}

/** The load guard had neither a slot nor room in its queue. */
export class LoadRejectedError extends ServiceUnavailableError {
  readonly code = 'LOAD_REJECTED';
}

/** Redis can't be reached and `onRedisDown: 'error'` forbids the origin. */
export class CacheUnavailableError extends ServiceUnavailableError {
  readonly code = 'CACHE_UNAVAILABLE';
}

/** The load failed in another process. Carries that error's name and code, never its message or stack. */
export class RemoteLoadError extends StampedeCacheError {
  readonly code = 'REMOTE_LOAD';

  constructor(
    message: string,
    readonly remoteName: string,
    readonly remoteCode: string | undefined,
  ) {
    super(message);
  }
}

/** The value can't be stored so that a hit equals a miss. `path` is where in the value. */
export class UncacheableValueError extends StampedeCacheError {
  readonly code = 'UNCACHEABLE_VALUE';

  constructor(
    message: string,
    readonly path: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** An argument or key part has no unambiguous text. */
export class UncacheableArgumentError extends StampedeCacheError {
  readonly code = 'UNCACHEABLE_ARGUMENT';
}

/** A load reached its own key, directly or over other loads of this process. */
export class ReentrantLoadError extends StampedeCacheError {
  readonly code = 'REENTRANT_LOAD';
}

/**
 * The store did not acknowledge a change: old values may still be there. `keys` are the encoded keys, tags and scopes
 * concerned. It is tried again in the background; until then this process does not trust what it concerns.
 */
export class InvalidationError extends StampedeCacheError {
  readonly code = 'INVALIDATION_FAILED';
  /** What had been done successfully before: the result of `deferInvalidations`' run, or of the evicting method. */
  result: unknown;

  constructor(
    message: string,
    readonly keys: readonly string[],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** The same, with what had been done before. */
  after(result: unknown): this {
    this.result = result;
    return this;
  }
}

/**
 * Ids of `getOrLoadMany` could not be had: neither from the cache nor stale, and their load failed. `cause` is the first of
 * the `errors`. Where each of them is a 503, so is this.
 */
export class LoadManyError extends StampedeCacheError {
  readonly code = 'LOAD_MANY';
  // Private, so that no log shows what was cached.
  readonly #results: ReadonlyMap<unknown, unknown>;
  readonly #errors: ReadonlyMap<unknown, unknown>;

  constructor(
    message: string,
    results: ReadonlyMap<unknown, unknown>,
    errors: ReadonlyMap<unknown, unknown>,
  ) {
    super(message, { cause: errors.values().next().value });
    this.#results = results;
    this.#errors = errors;
  }

  /** The values of the other ids, as `getOrLoadMany` would have resolved to them. */
  get results(): ReadonlyMap<unknown, unknown> {
    return this.#results;
  }

  /** Why, by id. */
  get errors(): ReadonlyMap<unknown, unknown> {
    return this.#errors;
  }

  get status(): 503 | undefined {
    return this.retryAfter === undefined ? undefined : 503;
  }

  get statusCode(): 503 | undefined {
    return this.status;
  }

  get expose(): boolean {
    return this.status !== undefined;
  }

  /** When trying again makes sense, ms. Undefined: it is no 503. */
  get retryAfter(): number | undefined {
    const all = [...this.#errors.values()];
    if (!all.every((error) => error instanceof ServiceUnavailableError)) return undefined;
    return Math.max(...all.map(({ retryAfter }) => retryAfter));
  }
}

/** The module, a policy or a decorator was given something it can't work with. */
export class ConfigurationError extends StampedeCacheError {
  readonly code = 'CONFIGURATION';
}
