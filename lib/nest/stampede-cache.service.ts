import { Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { EntryInfo } from '../core/entries.js';
import { ConfigurationError } from '../core/errors.js';
import type { StampedeCacheEvent, StampedeCacheStats } from '../core/events/index.js';
import type { Key } from '../core/keys/index.js';
import type { InferringLoadContext, LoadContext } from '../core/load/index.js';
import type { Entry } from '../core/outcome.js';
import type { AnyPolicy, CallOptions, Policy } from '../core/policy/index.js';
import { show } from '../core/show.js';
import { attach, BRAND, CALL, type CachedCaller } from './cached/attachment.js';
import { CachedMethods } from './cached/cached-methods.js';
import { declarationsOf, type CachedDeclaration } from './cached/declaration.js';
import { Calls } from './calls.js';
import { eventStream } from './events/event-stream.js';
import type {
  AsyncMethodOf,
  CachedHandle,
  HandleOf,
  HiddenMethodOf,
} from './interfaces/cached-handle.interface.js';
import type { ManagedCache } from './managed-cache.js';
import { describeCache } from './stampede-cache.constants.js';

/** Any class, also an abstract one or one with a private constructor's public face. */
type ClassOf<C> = abstract new (...args: never[]) => C;

/** One cache: what `@Cached` does, by hand; and everything else that can be done to entries. */
@Injectable()
export class StampedeCacheService implements CachedCaller {
  /** What happens in the cache. A subscriber that throws or rejects changes nothing; without one nothing is built. */
  readonly events$: Observable<StampedeCacheEvent>;
  /** @internal */
  readonly [BRAND] = true;
  /** @internal */
  readonly methods: CachedMethods;
  private readonly calls: Calls;

  /** @internal made by the module */
  constructor(private readonly cache: ManagedCache) {
    const { core, name, options } = cache;
    const warn = (message: string): void => cache.warn(message);
    this.calls = new Calls(cache);
    this.methods = new CachedMethods(name, core.requests, options.policy, warn);
    this.events$ = eventStream(core, warn);
  }

  /** @internal */
  get closed(): boolean {
    return this.cache.closed;
  }

  /**
   * The value of `key`, from the cache or else from `load`, which runs once however many ask.
   * @throws what `load` throws, or an error of this package
   */
  getOrLoad<T>(
    key: Key,
    load: (context: InferringLoadContext) => T | Promise<T>,
    policy?: Policy<NoInfer<T>>,
    call?: CallOptions,
  ): Promise<T>;
  getOrLoad<T>(
    key: Key,
    load: (context: LoadContext<T>) => T | Promise<T>,
    policy?: Policy<T>,
    call?: CallOptions,
  ): Promise<T>;
  async getOrLoad<T>(
    key: Key,
    load: (context: never) => T | Promise<T>,
    policy?: Policy<T>,
    call?: CallOptions,
  ): Promise<T> {
    // Either overload's loader takes the one context there is.
    const typed = load as (context: LoadContext<T>) => T | Promise<T>;
    const { value } = await this.getOrLoadEntry(key, typed, policy, call);
    return value;
  }

  /** The same, with how the value came and how old it is. */
  getOrLoadEntry<T>(
    key: Key,
    load: (context: InferringLoadContext) => T | Promise<T>,
    policy?: Policy<NoInfer<T>>,
    call?: CallOptions,
  ): Promise<Entry<T>>;
  getOrLoadEntry<T>(
    key: Key,
    load: (context: LoadContext<T>) => T | Promise<T>,
    policy?: Policy<T>,
    call?: CallOptions,
  ): Promise<Entry<T>>;
  async getOrLoadEntry<T>(
    key: Key,
    load: (context: never) => T | Promise<T>,
    policy?: Policy<T>,
    call?: CallOptions,
  ): Promise<Entry<T>> {
    if (typeof load !== 'function') {
      throw new ConfigurationError(
        `getOrLoad takes a function that loads the value, received ${show(load)}.`,
      );
    }
    // The engine gives back what the loader, or an earlier one of the same key, resolved to.
    return (await this.calls.load(key, load as never, policy as AnyPolicy | undefined, call)) as Entry<T>;
  }

  /** The fresh value, or undefined. Never loads. `policy` says how to read it, where it has a `type` or a `serializer`. */
  async get<T>(key: Key, policy?: Policy<T>): Promise<T | undefined> {
    const entry = await this.getEntry(key, policy);
    return entry === undefined || entry.outcome === 'stale' ? undefined : entry.value;
  }

  /** What is stored and may still be served, also a stale value; undefined: nothing. Never loads. */
  async getEntry<T>(key: Key, policy?: Policy<T>): Promise<Entry<T> | undefined> {
    return (await this.calls.read(key, policy as AnyPolicy | undefined)) as Entry<T> | undefined; // as above
  }

  /**
   * Replaces the value and revokes a load under way.
   * @throws UncacheableValueError for a value that can't be stored; the old entry is dropped before
   * @throws InvalidationError without the store's acknowledgement
   */
  async set<T>(key: Key, value: T, policy?: Policy<T>): Promise<void> {
    await this.calls.set(key, value, policy as AnyPolicy | undefined);
  }

  /**
   * Drops entries and revokes their loads under way: no call that begins when this has resolved, in any process, gets a
   * value loaded before.
   * @throws InvalidationError without the store's acknowledgement
   */
  async invalidate(...keys: Key[]): Promise<void> {
    await this.calls.invalidate(keys);
  }

  /**
   * What is known of an entry, for humans; null: nothing is stored or loading.
   * @throws CacheUnavailableError when the store does not answer
   */
  async inspect(key: Key): Promise<EntryInfo | null> {
    return this.calls.inspect(key);
  }

  /** Runs `run` with these options for every call inside, those of `@Cached` methods included. */
  async with<R>(call: CallOptions, run: () => Promise<R>): Promise<R> {
    return this.cache.core.requests.with(call, run);
  }

  /**
   * The entries of a `@Cached` method. Name the class whose instances there are, or an instance.
   * @throws ConfigurationError for a method that is not cached here
   */
  of<C extends object, K extends AsyncMethodOf<C>>(host: ClassOf<C> | C, method: K): HandleOf<C, K>;
  /** The same for a method that is not public: say its arguments and what it resolves to. */
  of<A extends readonly unknown[] = never, T = never>(
    host: ClassOf<object> | object,
    method: HiddenMethodOf<A>,
  ): CachedHandle<A, T>;
  of(host: unknown, method: string | symbol): CachedHandle<readonly unknown[], unknown> {
    const found = this.methods.find(host, method);
    return this.calls.handleOf(found.method, found.instance);
  }

  /**
   * Gives an instance that Nest did not make, or made by a request-scoped factory, its cache.
   * @throws ConfigurationError if its class has no method that is cached here
   */
  attach(instance: object): void {
    const prototype = Object.getPrototypeOf(instance) as object | null;
    const mine = declarationsOf(prototype).filter(({ options }) => options.cache === this.cache.name);
    if (prototype === null || mine.length === 0) {
      throw new ConfigurationError(
        `attach(): ${show(instance)} has no method that is @Cached in ${describeCache(this.cache.name)}.`,
      );
    }
    for (const declaration of mine) this.methods.resolve(declaration, prototype);
    attach(instance, this.cache.name, this);
  }

  /** Counters since the cache was made, and what is under way now. */
  stats(): StampedeCacheStats {
    return this.cache.core.stats();
  }

  /** @internal */
  [CALL](declaration: CachedDeclaration, host: object, args: readonly unknown[]): Promise<unknown> {
    return this.calls.method(this.methods, declaration, host, args);
  }
}
