import { splitManyPolicy, type AnyManyPolicy, type LoadManyContext } from '../../../lib/core/batch/index.js';
import type { CacheOptions } from '../../../lib/core/cache-options.js';
import type { Answer } from '../../../lib/core/call/index.js';
import type { EntryInfo } from '../../../lib/core/entries.js';
import type { StampedeCacheEvent } from '../../../lib/core/events/index.js';
import type { LoadContext } from '../../../lib/core/load/index.js';
import type { AnyPolicy, CallOptions } from '../../../lib/core/policy/index.js';
import { variantOf, type EntryKey } from '../../../lib/core/keys/index.js';
import type { Request } from '../../../lib/core/request.js';
import { StampedeCache } from '../../../lib/core/stampede-cache.js';
import type { Runtime } from '../../../lib/core/ports.js';
import type { Store } from '../../../lib/core/store.js';

/** Where a cache's contract is tested: its store, its time, and as many processes as wanted. */
export interface Lab {
  readonly runtime: Runtime;
  /** Another client of the same data. */
  openStore(): Promise<Store>;
  /** Lets time pass: by hand in memory, by waiting on a server. */
  advance(ms: number): Promise<void>;
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

export type Load = (ctx: LoadContext<never>) => unknown;

/** One process of the fleet: a cache of its own on the shared data. */
export class Process {
  readonly events: StampedeCacheEvent[] = [];
  /** Of the entries this build keeps. */
  version: string | undefined;
  name = 'Shop.find';

  constructor(
    readonly cache: StampedeCache,
    readonly store: Store,
  ) {
    cache.listen((event) => void this.events.push(event));
  }

  static async open(
    lab: Lab,
    options: CacheOptions = {},
    wrap: (store: Store) => Store = (store) => store,
  ): Promise<Process> {
    const store = wrap(await lab.openStore());
    const cache = new StampedeCache(options, { store, runtime: lab.runtime, holder: 'test' });
    await cache.open();
    return new Process(cache, store);
  }

  get(key: string, load: Load, policy: AnyPolicy = {}, call?: CallOptions): Promise<unknown> {
    return this.entry(key, load, policy, call).then(({ value }) => value);
  }

  async entry(key: string, load: Load, policy: AnyPolicy = {}, call?: CallOptions): Promise<Answer> {
    return this.cache.answer(this.request(key, load, policy, call));
  }

  /** As the service has it: of keys without a name. */
  many<T = unknown>(
    ids: readonly unknown[],
    load: (missing: never[], ctx: LoadManyContext) => unknown,
    policy: Partial<AnyManyPolicy> = {},
    call?: CallOptions,
  ): Promise<Map<unknown, T>> {
    const { requests } = this.cache;
    const where = 'Shop.findMany';
    const defaults = { key: (id: never) => id, ttl: 60_000, jitter: 0, earlyRefresh: 0 };
    const { keyOf, maxBatch, policy: own } = splitManyPolicy({ ...defaults, ...policy }, where);
    const keyOfId = (id: unknown): EntryKey => requests.keyOf({ name: '' }, undefined, keyOf(id), where);
    return this.cache.answerMany({
      where,
      ids: [...new Set(ids)],
      policy: requests.policy(own, where),
      call: requests.call(call),
      maxBatch,
      load: load as never,
      entryOf: (id) => ({ key: keyOfId(id), args: [keyOf(id)] }),
    }) as Promise<Map<unknown, T>>;
  }

  async peek(key: string, policy: AnyPolicy = {}): Promise<Answer | undefined> {
    return this.cache.entries.read(this.request(key, () => undefined, policy));
  }

  async set(key: string, value: unknown, policy: AnyPolicy = {}): Promise<void> {
    await this.cache.changes.set(
      this.request(key, () => undefined, policy),
      value,
    );
  }

  async invalidate(key: string, holdOffMs = 0): Promise<void> {
    await this.cache.changes.invalidate([this.about(key)], holdOffMs);
  }

  async expire(key: string): Promise<void> {
    await this.cache.changes.expire([this.about(key)]);
  }

  /** A request about an entry, without a load. */
  about(key: string): Request {
    return this.request(key, () => undefined, { ttl: 1_000 });
  }

  async inspect(key: string): Promise<EntryInfo | null> {
    return this.cache.entries.inspect(this.request(key, () => undefined, { ttl: 1_000, stale: 60_000 }));
  }

  request(key: string, load: Load, policy: AnyPolicy, call?: CallOptions): Request {
    const { requests } = this.cache;
    const where = 'Shop.find';
    const options = requests.call(call);
    const resolved = requests.policy({ ttl: 60_000, jitter: 0, earlyRefresh: 0, ...policy }, where);
    return {
      key: requests.keyOf({ name: this.name, variant: variantOf(this.version) }, undefined, key, where),
      name: this.name,
      version: this.version,
      policy: resolved,
      call: options,
      args: [key],
      load,
    };
  }

  types(): string[] {
    return this.events.map((event) => event.type);
  }

  async close(): Promise<void> {
    await this.cache.close();
  }
}
