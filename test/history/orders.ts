import type { CacheOptions } from '../../lib/core/cache-options.js';
import type { Catalogue } from './catalogue.js';
import type { LoadPlan } from './loads.js';
import type { CallKind, ChangeKind } from './records.js';

export interface SubjectSetup {
  readonly url: string;
  readonly namespace: string;
  readonly originPort: number;
  /** The name of this process in the records, and where they go. */
  readonly process: string;
  readonly records: string;
  readonly options: CacheOptions;
  readonly catalogue: Catalogue;
  /** The version of its entries. Default: none. */
  readonly version?: string;
}

export interface CallOrder {
  readonly key: string;
  readonly call: CallKind;
  readonly plan: LoadPlan;
  /** The caller gives up after so many ms. */
  readonly abortAfter?: number;
}

export interface ChangeOrder {
  readonly change: ChangeKind;
  readonly keys?: readonly string[];
  readonly tags?: readonly string[];
  /** The rows that are committed before. Default: those of all keys concerned. */
  readonly rows?: readonly string[];
  /** Nothing may be stored for so long after it, ms. */
  readonly holdOff?: number;
  /** Made at the end of a transaction. */
  readonly deferred?: boolean;
}
