import { Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { AnyManyPolicy, ManyPolicy } from '../core/batch/index.js';
import type { EntryInfo } from '../core/entries.js';
import { ConfigurationError } from '../core/errors.js';
import type { StampedeCacheEvent, StampedeCacheStats } from '../core/events/index.js';
import type { Key } from '../core/keys/index.js';
import type { InferringLoadContext, LoadContext } from '../core/load/index.js';
import type { Entry } from '../core/outcome.js';
import type { AnyPolicy, CallOptions, Policy } from '../core/policy/index.js';
import { show } from '../core/show.js';
import { attachByHand } from './attach-by-hand.js';
import { BRAND, CALL, type CachedCaller } from './cached/attachment.js';
import { CachedMethods } from './cached/cached-methods.js';
import type { CachedDeclaration } from './cached/declaration.js';
import { Calls } from './calls.js';
import { eventStream } from './events/event-stream.js';
import type { EvictionCaller } from './evict/eviction-attachment.js';
import { refuseHoldOff, takeHoldOff } from './hold-off.js';
import type {
  AsyncMethodOf,
  CachedHandle,
  HandleOf,
  HiddenMethodOf,
} from './interfaces/cached-handle.interface.js';
import type { ClassOf } from './interfaces/eviction-options.interface.js';
import type { HoldOffOptions } from './interfaces/hold-off-options.interface.js';
import type { InferringManyLoader, ManyLoader } from './interfaces/many-loader.interface.js';
import type { ManagedCache } from './managed-cache.js';
import { loadMany } from './many-calls.js';
import type { Routes } from './route/routes.js';
import { INSPECT } from './inspect.js';

/** One cache: what `@Cached` does, by hand; and everything else that can be done to entries. */
@Injectable()
export class StampedeCacheService implements CachedCaller {
  /** What happens in the cache. A subscriber that throws or rejects changes nothing; without one nothing is built. */
  readonly events$: Observable<StampedeCacheEvent>;
  /** @internal */
  readonly [BRAND] = true;
  /** @internal */
  readonly methods: CachedMethods;
  /** @internal */
  readonly calls: Calls;

  /** @internal made by the module */
  constructor(
    private readonly cache: ManagedCache,
    private readonly evictor: EvictionCaller,
    routes: Routes,
  ) {
    const { core, name, options } = cache;
    const warn = (message: string): void => cache.warn(message);
    this.calls = new Calls(cache, routes);
    this.methods = new CachedMethods(name, core.requests, options.policy, warn);
    this.events$ = eventStream(core, warn);
  }

  /** @internal */
  get closed(): boolean {
    return this.cache.closed;
  }

  /** What shows of it in logs: never its options, which may hold a password. */
  toJSON(): object {
    return this.cache.toJSON();
  }

  /** @internal */
  [INSPECT](): string {
    return this.cache[INSPECT]();
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
  getOrLoad<T>(
    key: Key,
    load: (context: never) => T | Promise<T>,
    policy?: Policy<T>,
    call?: CallOptions,
  ): Promise<T> {
    // The engine gives back what the loader, or an earlier one of the same key, resolved to.
    return this.calls.value(key, load as never, policy as AnyPolicy | undefined, call) as Promise<T>;
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
    const answer = await this.calls.load(key, load as never, policy as AnyPolicy | undefined, call);
    return entryOf(answer) as Entry<T>; // as above
  }

  /**
   * The values of many ids, in their order and each once; an id without a value is absent. What is neither cached nor loaded
   * by others is loaded by one call of `load`, at most `maxBatch` ids in each. `key` makes an id's entry, which `getOrLoad`
   * shares.
   * @throws LoadManyError with the `results` of all others, where ids have neither a value nor a stale one
   */
  getOrLoadMany<K, T>(
    ids: readonly K[],
    load: InferringManyLoader<K, T>,
    policy: ManyPolicy<K, NoInfer<T>>,
    call?: CallOptions,
  ): Promise<Map<K, T>>;
  getOrLoadMany<K, T>(
    ids: readonly K[],
    load: ManyLoader<K, T>,
    policy: ManyPolicy<K, T>,
    call?: CallOptions,
  ): Promise<Map<K, T>>;
  async getOrLoadMany(
    ids: readonly never[],
    load: ManyLoader<never, never>,
    policy: AnyManyPolicy,
    call?: CallOptions,
  ): Promise<Map<never, never>> {
    // As with `getOrLoad`: the loader's own ids and values.
    return (await loadMany(this.cache, ids, load, policy, call)) as Map<never, never>;
  }

  /** The fresh value, or undefined. Never loads. `policy` says how to read it, where it has a `type` or a `serializer`. */
  async get<T>(key: Key, policy?: Policy<T>): Promise<T | undefined> {
    const entry = await this.getEntry(key, policy);
    return entry === undefined || entry.outcome === 'stale' ? undefined : entry.value;
  }

  /** What is stored and may still be served, also a stale value; undefined: nothing. Never loads. */
  async getEntry<T>(key: Key, policy?: Policy<T>): Promise<Entry<T> | undefined> {
    const found = await this.calls.read(key, policy as AnyPolicy | undefined);
    return found && (entryOf(found) as Entry<T>); // as above
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
   * value loaded before. Behind the keys `{ holdOff: '5s' }` may stand: nothing is stored under them for so long, while
   * replicas that loads read from catch up. Without a key nothing happens.
   * @throws InvalidationError without the store's acknowledgement; it is tried again in the background
   */
  async invalidate(...keys: Key[] | [...Key[], HoldOffOptions]): Promise<void> {
    const { items, holdOffMs } = takeHoldOff<Key>(keys, 'invalidate()', 1);
    await this.calls.invalidate(items, holdOffMs);
  }

  /**
   * Makes entries stale: the next reader gets the old value, where the policy allows a stale one, and refreshes it.
   * @throws InvalidationError without the store's acknowledgement; it is tried again in the background
   */
  async expire(...keys: Key[]): Promise<void> {
    if (keys.length > 1) refuseHoldOff(keys, 'expire()', 'invalidate()');
    await this.calls.expire(keys);
  }

  /**
   * Drops every entry that carries one of these tags, at the cost of the tags and not of the entries: for calls that begin
   * here when this has resolved, and elsewhere `coherence.maxLag` later. `{ holdOff: '5s' }` may stand behind them, as with
   * {@link invalidate}.
   * @throws InvalidationError without the store's acknowledgement; it is tried again in the background
   */
  async invalidateTags(...tags: string[] | [...string[], HoldOffOptions]): Promise<void> {
    const { items, holdOffMs } = takeHoldOff<string>(tags, 'invalidateTags()', 0);
    await this.calls.invalidateTags(items, holdOffMs);
  }

  /**
   * Makes every entry that carries one of these tags stale, as {@link expire} does with keys.
   * @throws InvalidationError without the store's acknowledgement; it is tried again in the background
   */
  async expireTags(...tags: string[]): Promise<void> {
    refuseHoldOff(tags, 'expireTags()', 'invalidateTags()');
    await this.calls.expireTags(tags);
  }

  /**
   * Makes every entry of this cache unreadable: here at once, elsewhere within `coherence.maxLag`. Their memory comes back as
   * their lives end.
   * @throws InvalidationError without the store's acknowledgement; it is tried again in the background
   */
  async clear(): Promise<void> {
    await this.calls.clear();
  }

  /**
   * Runs a transaction: what is invalidated, expired, cleared or set in this cache inside `run`, by `@CacheEvict` and
   * `@CachePut` too, happens when it resolves, and never when it rejects. Those calls resolve at once. Inner transactions join
   * the outermost.
   * @throws what `run` throws; InvalidationError with its `result` where it resolved and the store did not acknowledge
   */
  async deferInvalidations<R>(run: () => Promise<R>): Promise<R> {
    if (typeof run !== 'function') {
      throw new ConfigurationError(
        `deferInvalidations takes an async function that runs the transaction, received ${show(run)}.`,
      );
    }
    const { core } = this.cache;
    return core.enabled ? core.changes.defer(run) : run();
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
    const { plans } = this.calls.routes;
    const found = this.methods.find(host, method, (prototype) => plans.routeOf(prototype, method));
    return this.calls.handleOf(this.methods, found.method, found.instance);
  }

  /**
   * Gives an instance that Nest did not make, or made by a request-scoped factory, its cache, and what its evictions need.
   * @throws ConfigurationError if its class has no method that is cached here, and none with evictions
   */
  attach(instance: object): void {
    const { cache, methods, evictor } = this;
    attachByHand(instance, { name: cache.name, service: this, methods, evictor });
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

/** What the caller asked for; the engine tells more. */
function entryOf({ value, outcome, age, staleFor }: Entry<unknown>): Entry<unknown> {
  return { value, outcome, age, staleFor };
}
