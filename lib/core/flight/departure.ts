import type { StoredEntry } from '../entry/index.js';
import type { LoadReason } from '../events/index.js';
import type { Budget } from '../gate/index.js';
import type { ChainLink } from '../load/index.js';

/** What the flight's leader knows. */
export interface Departure {
  /** The stale entry that the leader holds and the load is to replace. */
  readonly stale: StoredEntry | undefined;
  /** The leader may be served that entry: the fleet's rest after failures binds it. */
  readonly hasStale: boolean;
  /** The entry found unusable. */
  readonly rejectedId: string;
  /** Only a load begun after this store time will do. Undefined: after the first answer of the store. */
  readonly since: number | undefined;
  /** What the leader's own read left of its time for the store. */
  readonly budget: Budget;
  /** The load around the leader. */
  readonly parent: ChainLink | undefined;
  readonly reason: LoadReason;
  /** Skips the store: waiting is over (`onWaitTimeout: 'load'`), or the store's answers lead nowhere. */
  readonly leaseless: boolean;
}
