import type { CacheOptions } from '../../../lib/core/cache-options.js';
import type { Together } from '../../../lib/core/call/index.js';
import type { StampedeCacheStats } from '../../../lib/core/events/index.js';
import { nothing } from '../../../lib/core/nothing.js';
import type { AnyPolicy, CallOptions } from '../../../lib/core/policy/index.js';
import type { Request } from '../../../lib/core/request.js';
import { StampedeCache } from '../../../lib/core/stampede-cache.js';
import type { Store } from '../../../lib/core/store.js';
import type { Load } from '../../contract/cache/lab.js';
import { KeptOpen, type MemoryLab } from './memory-lab.js';

const WHERE = 'Shop.find';

/** A process that nobody listens to: its callers of one turn share, as those of the service do. */
export class Quiet {
  private readonly last = new Map<string, { policy: AnyPolicy; together: Together }>();

  private constructor(readonly cache: StampedeCache) {}

  static async open(
    { fake, store }: MemoryLab,
    options: CacheOptions = {},
    wrap: (store: Store) => Store = (store) => store,
  ): Promise<Quiet> {
    const { runtime } = fake;
    const parts = { store: wrap(new KeptOpen(store)), runtime, holder: 'quiet' };
    const cache = new StampedeCache(options, parts);
    await cache.open();
    return new Quiet(cache);
  }

  get(key: string, load: Load, policy: AnyPolicy = SHARED, call?: CallOptions): Promise<unknown> {
    const last = call === undefined ? this.last.get(key) : undefined;
    const joined = last?.policy === policy ? this.cache.join(last.together) : undefined;
    if (joined) return joined;
    const request = this.request(key, load, policy, call);
    const together = this.cache.together(request, nothing);
    if (together === undefined) return this.cache.value(request);
    this.last.set(key, { policy, together });
    return together.value;
  }

  /** So many callers of one turn. */
  many(count: number, key: string, load: Load, policy?: AnyPolicy): Promise<unknown>[] {
    return Array.from({ length: count }, () => this.get(key, load, policy));
  }

  request(key: string, load: Load, policy: AnyPolicy = SHARED, call?: CallOptions): Request {
    const { requests } = this.cache;
    return {
      key: requests.keyOf({ name: '' }, undefined, key, WHERE),
      name: '',
      policy: requests.policy(policy, WHERE),
      call: requests.call(call),
      args: [key],
      load,
    };
  }

  async set(key: string, value: unknown, policy: AnyPolicy = SHARED): Promise<void> {
    await this.cache.changes.set(
      this.request(key, () => undefined, policy),
      value,
    );
  }

  async invalidate(key: string): Promise<void> {
    await this.cache.changes.invalidate([this.request(key, () => undefined)]);
  }

  async expire(key: string): Promise<void> {
    await this.cache.changes.expire([this.request(key, () => undefined)]);
  }

  get outcomes(): Record<string, number> {
    const all = Object.entries(this.cache.stats().outcomes);
    return Object.fromEntries(all.filter(([, count]) => count > 0));
  }
}

/** Fails where somebody still waits, or something still runs. */
export function atRest({ active }: StampedeCacheStats): void {
  const { callers, flights, refreshes, slots, queued } = active;
  if (callers + flights + refreshes + slots + queued > 0)
    throw new Error(`left behind: ${JSON.stringify(active)}`);
}

/** A policy of callers who share. */
export const shares = (more: AnyPolicy = {}): AnyPolicy => ({
  ttl: 60_000,
  jitter: 0,
  earlyRefresh: 0,
  shared: true,
  ...more,
});
export const SHARED = shares();
