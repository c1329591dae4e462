/** What the origin gives for a key. */
export interface Row {
  readonly key: string;
  readonly version: number;
  /** The load, or the `set`, that brought it. */
  readonly load: string;
}

/** One call, begin to end. All times are ms of the machine's monotonic clock. */
export interface CallRecord {
  readonly process: number;
  readonly key: string;
  readonly begin: number;
  readonly end: number;
  /** Absent: it rejected. */
  readonly outcome?: string;
  readonly row?: Row;
  /** The name of the error. */
  readonly error?: string;
}

export interface LoadRecord {
  readonly process: number;
  readonly id: string;
  readonly key: string;
  readonly begin: number;
  /** Absent: it runs. */
  end?: number;
  readonly leased: boolean;
}

export interface ChangeRecord {
  readonly process: number;
  readonly by: 'key' | 'set' | 'tag';
  /** The rows that were changed before, with their new versions. */
  readonly versions: Readonly<Record<string, number>>;
  readonly begin: number;
  readonly end: number;
  /** Absent: Redis acknowledged it. */
  readonly error?: string;
}

/** What one process has to say when all is over. */
export interface Report {
  readonly process: number;
  readonly calls: readonly CallRecord[];
  readonly loads: readonly LoadRecord[];
  readonly changes: readonly ChangeRecord[];
  /** Calls that never came to an end. */
  readonly hanging: number;
  readonly peakLoads: number;
  /** Unhandled rejections and uncaught exceptions. */
  readonly unhandled: readonly string[];
  readonly lines: readonly { readonly at: number; readonly text: string }[];
  /** Of the event loop, ms. */
  readonly delay: { readonly p99: number; readonly max: number };
  /** The most commands that waited in the client handed in; -1: the cache made its own. */
  readonly peakQueue: number;
}

/** One illness of Redis. */
export interface IllnessRecord {
  readonly kind: string;
  /** Before the first thing that went wrong. */
  readonly begin: number;
  /** When Redis could be used again. */
  readonly healed: number;
  /** By process: how long after that its first hit came, ms; NaN: none came. */
  readonly recovery: readonly number[];
  /** Changes acknowledged in this time may be lost: the server that knew of them died. */
  readonly lost?: { readonly from: number; readonly to: number };
}

export interface Chronicle {
  readonly reports: readonly Report[];
  readonly illnesses: readonly IllnessRecord[];
}
