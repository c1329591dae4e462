import type { Runtime } from '../core/ports.js';
import type { Store } from '../core/store.js';
import type { StampedeCacheModuleOptions } from './interfaces/stampede-cache-module-options.interface.js';

/** One cache as it was configured, before anything is built. */
export interface CacheSetup {
  readonly name: string | undefined;
  readonly options: StampedeCacheModuleOptions;
  /** Its own, or derived from the default cache's, which may be configured later. */
  readonly namespace: Promise<string>;
}

/** The store of a cache, not opened yet, with its surroundings. */
export interface BuiltStore {
  readonly store: Store;
  readonly runtime: Runtime;
  /** Calls `listener` for each change of the connection. */
  readonly onState: (listener: (state: 'up' | 'down', reason: string) => void) => void;
  /** After opening: why the store can't be used although it answers. */
  readonly refusal: () => string | undefined;
  /** After opening: whether it can be used now. */
  readonly isUp: () => boolean;
}

/** Builds a store without opening it. @throws ConfigurationError for a connection that can't be used */
export type StoreFactory = (setup: CacheSetup) => Promise<BuiltStore>;
