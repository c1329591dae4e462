import { splitManyPolicy } from '../../../lib/core/batch/index.js';
import type { CacheOptions } from '../../../lib/core/cache-options.js';
import type { Answer } from '../../../lib/core/call/index.js';
import type { EntryInfo } from '../../../lib/core/entries.js';
import type { StampedeCacheEvent, StampedeCacheStats } from '../../../lib/core/events/index.js';
import type { AnyPolicy, CallOptions } from '../../../lib/core/policy/index.js';
import type { Loader, Request } from '../../../lib/core/request.js';
import { StampedeCache } from '../../../lib/core/stampede-cache.js';
import type { Store } from '../../../lib/core/store.js';
import { createRedisStore, type StateListener } from '../../../lib/redis/index.js';
import { createNodeRuntime } from '../../../lib/runtime/index.js';

export interface CacheSetup {
  readonly url: string;
  readonly namespace: string;
  readonly options?: CacheOptions;
  /** Who it is, in a lease. */
  readonly holder?: string;
}

/** With anything that a store on Redis can be made of in place of the URL. */
export type ConnectionSetup = Omit<CacheSetup, 'url'> & { readonly connection: unknown };

/** The cache on a Redis, as one process of a fleet has it, and calls by key. */
export class CacheClient {
  readonly events: StampedeCacheEvent[] = [];

  private constructor(
    readonly cache: StampedeCache,
    readonly store: Store,
    readonly warnings: readonly string[],
  ) {}

  /** `wrap` puts a store that misbehaves in front of the real one. */
  static async open(
    setup: CacheSetup | ConnectionSetup,
    wrap: (store: Store) => Store = (store) => store,
  ): Promise<CacheClient> {
    const warnings: string[] = [];
    const runtime = createNodeRuntime({
      log: { info: () => undefined, warn: (line) => void warnings.push(line) },
    });
    const connection = 'connection' in setup ? setup.connection : setup.url;
    const told: { cache?: StampedeCache } = {};
    const onState: StateListener = (state, reason) => told.cache?.report(state, reason);
    const store = wrap(await createRedisStore({ connection, namespace: setup.namespace, runtime, onState }));
    const cache = (told.cache = new StampedeCache(setup.options ?? {}, {
      store,
      runtime,
      holder: setup.holder ?? 'test',
    }));
    await cache.open();
    return new CacheClient(cache, store, warnings);
  }

  /** From now on `events` fills. */
  record(): void {
    this.cache.listen((event) => void this.events.push(event));
  }

  entry(key: string, load: Loader, policy: AnyPolicy, call?: CallOptions): Promise<Answer> {
    return this.cache.answer(this.request(key, load, policy, call));
  }

  /** Of the same entries. */
  many<T>(
    keys: readonly string[],
    load: (missing: string[]) => Promise<Map<string, T>>,
    policy: AnyPolicy,
  ): Promise<Map<string, T>> {
    const { requests } = this.cache;
    const where = NAME;
    const { maxBatch, policy: own } = splitManyPolicy({ ...policy, key: (key: never) => key }, where);
    return this.cache.answerMany({
      where,
      ids: keys,
      policy: requests.policy(own, where),
      call: requests.call(undefined),
      maxBatch,
      load: load as never,
      entryOf: (id) => {
        const key = requests.keyOf({ name: where }, undefined, id as string, where);
        return { key, args: [id] };
      },
    }) as Promise<Map<string, T>>;
  }

  async set(key: string, value: unknown, policy: AnyPolicy): Promise<void> {
    await this.cache.changes.set(
      this.request(key, () => undefined, policy),
      value,
    );
  }

  async invalidate(key: string): Promise<void> {
    await this.cache.changes.invalidate([this.request(key, () => undefined, ANY)]);
  }

  idOf(key: string): string {
    return this.request(key, () => undefined, ANY).key.id;
  }

  inspect(key: string): Promise<EntryInfo | null> {
    return this.cache.entries.inspect(this.request(key, () => undefined, ANY));
  }

  /** For a failing test to show. */
  state(): string {
    const up = 'isUp' in this.store && typeof this.store.isUp === 'function' ? this.store.isUp() : '?';
    return `connected: ${String(up)}, warned: ${this.warnings.join(' | ')}`;
  }

  stats(): StampedeCacheStats {
    return this.cache.stats();
  }

  close(): Promise<void> {
    return this.cache.close();
  }

  private request(key: string, load: Loader, policy: AnyPolicy, call?: CallOptions): Request {
    const { requests } = this.cache;
    const where = NAME;
    return {
      key: requests.keyOf({ name: where }, undefined, key, where),
      name: where,
      policy: requests.policy(policy, where),
      call: requests.call(call),
      args: [key],
      load,
    };
  }
}

/** Of all entries of a fleet. */
export const NAME = 'Shop.find';
const ANY: AnyPolicy = { ttl: '1m', stale: '1h' };
