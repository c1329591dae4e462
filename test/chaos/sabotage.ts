import { setTimeout as delay } from 'node:timers/promises';
import type { CacheOptions } from '../../lib/core/cache-options.js';
import type { EntryKey } from '../../lib/core/keys/index.js';
import type { Store } from '../../lib/core/store.js';
import { ForwardingStore } from '../support/forwarding-store.js';

/** A build that is wrong in one way. The judges must find it out. */
export type Sabotage = 'colliding' | 'unguarded' | 'forgetful' | 'careless' | 'resigned';

export function sabotagedStore(store: Store, sabotage: readonly Sabotage[]): Store {
  return sabotage.reduce((inner, way) => {
    if (way === 'forgetful') return new Forgetful(inner);
    if (way === 'careless') return new Careless(inner);
    if (way === 'resigned') return new Resigned(inner);
    return inner;
  }, store);
}

export function sabotagedOptions(options: CacheOptions, sabotage: readonly Sabotage[]): CacheOptions {
  return sabotage.includes('unguarded') ? { ...options, loads: {} } : options;
}

/** Keys that differ share an entry. */
export function sabotagedKey(key: string, sabotage: readonly Sabotage[]): string {
  return sabotage.includes('colliding') ? key.slice(0, -1) : key;
}

/** It says that an invalidation was made, and makes none. */
class Forgetful extends ForwardingStore {
  override async invalidate(): Promise<void> {
    // nothing
  }
}

const LATE = 50;

/** It bounds its reads, and nobody listens when one is late. */
class Careless extends ForwardingStore {
  override read(key: EntryKey): Promise<Buffer | null> {
    const reply = this.inner.read(key);
    void Promise.race([reply, late()]);
    return reply;
  }
}

/** Once Redis was late, it never asks again. */
class Resigned extends ForwardingStore {
  private failed: unknown;

  override async read(key: EntryKey): Promise<Buffer | null> {
    if (this.failed !== undefined) throw this.failed;
    const reply = this.inner.read(key);
    Promise.race([reply, late()]).catch((error: unknown) => {
      this.failed = error;
    });
    return reply;
  }
}

async function late(): Promise<never> {
  await delay(LATE);
  throw new Error('late');
}
