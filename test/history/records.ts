/** What a loader gives: the row as the load read it, and which load that was. */
export interface Row {
  readonly key: string;
  readonly version: number;
  /** The load's id, or that of the `set` that brought the value. Between tildes, so that it is found in an entry's bytes. */
  readonly load: string;
}

export type CallKind = 'load' | 'fresh' | 'read';
export type ChangeKind = 'invalidate' | 'set' | 'expire' | 'invalidateTags' | 'expireTags' | 'clear';
export type StoreOpKind =
  'acquire' | 'renew' | 'commit' | 'touch' | 'release' | 'put' | 'invalidate' | 'expire' | 'write' | 'evict';

export interface ErrorNote {
  readonly name: string;
  readonly message: string;
}

/** One line of a history. `t`: ms on the machine's monotonic clock, which all of its processes share. */
export type HistoryRecord = { readonly t: number; readonly process: string } & Happening;

export type Happening =
  | {
      readonly kind: 'call.begin';
      readonly id: string;
      readonly key: string;
      readonly call: CallKind;
      /** The load that makes it. */
      readonly inside?: string;
    }
  | { readonly kind: 'call.abort'; readonly id: string }
  | {
      readonly kind: 'call.end';
      readonly id: string;
      readonly value?: Row;
      readonly outcome?: string;
      readonly error?: ErrorNote;
    }
  | {
      readonly kind: 'load.begin';
      readonly id: string;
      readonly key: string;
      /** The call whose loader it is. */
      readonly call: string;
      /** The version of the entries that this process's build keeps. */
      readonly variant?: string;
      readonly leased: boolean;
      readonly reason: string;
    }
  | { readonly kind: 'load.row'; readonly id: string; readonly version: number }
  /** Its signal aborted: it is abandoned. */
  | { readonly kind: 'load.signal'; readonly id: string }
  | { readonly kind: 'load.end'; readonly id: string; readonly ok: boolean }
  | {
      readonly kind: 'change.begin';
      readonly id: string;
      readonly change: ChangeKind;
      readonly keys: readonly string[];
      readonly tags: readonly string[];
      /** The row's version that the change makes known; that of the value, for `set`. */
      readonly version: number;
      /** Nothing may be stored for so long after it, ms. */
      readonly holdOff?: number;
    }
  | { readonly kind: 'change.end'; readonly id: string; readonly error?: ErrorNote }
  | {
      readonly kind: 'store.begin';
      readonly id: string;
      readonly op: StoreOpKind;
      readonly key: string;
      readonly variant?: string;
      readonly token: string;
      /** The load or set whose value is written. */
      readonly load?: string;
      /** A question that takes no lease. */
      readonly probe?: boolean;
    }
  | { readonly kind: 'store.end'; readonly id: string; readonly reply?: string; readonly error?: string }
  | {
      readonly kind: 'event';
      readonly event: 'fenced' | 'lease.lost' | 'rejected' | 'lag' | 'unheard';
      readonly key: string;
      /** How long its event loop stood still (`lag`), or waited for an answer of Redis that did not come in time (`unheard`). */
      readonly ms?: number;
    }
  /** From the coordinator. `cut`: its connections were reset. Of Redis itself: `pause`, `resume`; `mute`: its push
   * connections were closed; `forget`: its scripts were. */
  | {
      readonly kind: 'fault';
      readonly fault:
        'born' | 'kill' | 'stop' | 'cont' | 'cut' | 'quiet' | 'pause' | 'resume' | 'mute' | 'forget';
    };
