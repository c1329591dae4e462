import type { Store } from '../../lib/core/store.js';

/** What a store must bring along to be put through the contract. */
export interface StoreHarness {
  readonly store: Store;
  /** Another client of the same data; in memory the same object. */
  readonly second: Store;
  /** Lets store time pass: by hand in memory, by really waiting on a server. */
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}
