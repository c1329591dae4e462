import type { EntryKey } from './keys/index.js';
import type { Cancel } from './ports.js';

/**
 * Where entries and leases live, shared by the fleet (Redis) or by one process (memory). Every operation is atomic for
 * its key and idempotent under resend. A rejected promise means "unknown", never "absent".
 */
export interface Store {
  readonly kind: 'redis' | 'memory';

  /**
   * The store's own time in epoch milliseconds, an integer. Soft expiries are judged by it.
   * @param at a moment of the monotonic clock, ms: for who has asked it already. @default now
   */
  now(at?: number): number;

  /** How far the clocks of its servers may be apart, ms; 0 where one clock rules. */
  readonly clockSkew: number;

  /** The entry's bytes as written, or null. One plain read, nothing is judged. */
  read(key: EntryKey): Promise<Buffer | null>;

  /**
   * The same of several keys in one command, where one server has them all. Absent: each is to be read for itself.
   * @returns in the order of the keys
   */
  readMany?(keys: readonly EntryKey[]): Promise<readonly (Buffer | null)[]>;

  /** Asks for the right to load. See {@link AcquireReply}. */
  acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply>;

  /** Publishes an entry, if the lease still stands; then drops the lease and wakes those who wait. */
  commit(key: EntryKey, request: CommitRequest): Promise<CommitReply>;

  /** Rewrites the first bytes of the stored entry in place under the lease (`notModified`), then drops the lease and wakes. */
  touch(key: EntryKey, request: TouchRequest): Promise<TouchReply>;

  /** Extends the lease, if it is still held by `token`. Also tells whether anybody waits for it. */
  renew(key: EntryKey, token: string, leaseMs: number): Promise<LeaseState>;

  /** Gives the lease back without a value. False: it was no longer ours, the load was revoked. */
  release(key: EntryKey, request: ReleaseRequest): Promise<boolean>;

  /** Explicit set: replaces the entry, revokes any running load, wakes. Told to every process. */
  put(key: EntryKey, request: PutRequest): Promise<'stored' | 'late'>;

  /** Writes without a fence and leaves a held lease alone (`coordinate: 'process' | 'none'`). */
  write(key: EntryKey, bytes: Buffer, hardMs: number): Promise<void>;

  /**
   * Drops entry and lease, so that a load begun before can never publish; wakes. With `holdOffMs` no load may store
   * anything for so long (`acquire` answers `heldOff`); a hold-off is never shortened, whatever happens to the key. Told to
   * every process.
   */
  invalidate(key: EntryKey, holdOffMs: number): Promise<void>;

  /** Makes a fresh entry stale as of now, and drops the lease; wakes. Told to every process. */
  expire(key: EntryKey): Promise<void>;

  /** The raw facts behind `inspect`. */
  peek(key: EntryKey): Promise<StoredFacts>;

  /** Calls `onWake` for each wake-up of `key` until cancelled. Registering happens at once, before it returns. */
  listen(key: EntryKey, onWake: (wake: Wake) => void): Cancel;

  /** Whether wake-ups reach this process at present. While they don't, waiters poll. */
  pushUp(): boolean;

  /** The tags as they stand, in the order asked for; undefined: none is kept. Writes nothing. */
  tags(ids: readonly string[]): Promise<readonly (TagState | undefined)[]>;

  /** The same; creates what is absent, and keeps each tag for at least `lifeMs` from now. */
  holdTags(ids: readonly string[], lifeMs: number): Promise<readonly TagState[]>;

  /**
   * Gives the tag a new `hard` part, and tells every process; rejects with NotAnnounced where it may not tell. Kept for
   * {@link INVALIDATED_TAG_LIFE} at least, so that a load that learns of the tag at its end finds it; longer if it was to be
   * kept longer, or is held off longer.
   */
  invalidateTag(id: string, holdOffMs: number): Promise<TagState>;

  /** Gives a tag that is there a new `soft` part, and tells every process. */
  expireTag(id: string): Promise<void>;

  /** The epochs of all scopes that were ever cleared; `''` is the whole namespace, another scope one name. */
  epochs(): Promise<ReadonlyMap<string, number>>;

  /**
   * Raises a scope's epoch to the store's time in ms, and in any case above the epochs of all scopes; tells every process.
   * Resolves to the new epoch.
   */
  clear(scope: string): Promise<number>;

  /** Raises epochs to at least these: they were known, and the store lost them. */
  raiseEpochs(epochs: ReadonlyMap<string, number>): Promise<void>;

  /** The variants of a name's entries that builds at work have announced; the plain one need not be among them. */
  variants(name: string): Promise<readonly string[]>;

  /** Announces a variant for at least `lifeMs` from now. */
  announce(name: string, variant: string, lifeMs: number): Promise<void>;

  /** Calls `onSignal` for every change, by whichever process, until cancelled. */
  watch(onSignal: (signal: Signal) => void): Cancel;

  /**
   * The monotonic time up to which every change was handed to those who watch; -Infinity while nothing is certain. Asking
   * keeps it up to date: it is proven by a heartbeat of `maxLag / 4`, which stops when nobody has asked for a while.
   * @param now the present monotonic time, of whoever knows it
   */
  toldUntil(now?: number): number;

  /** Why nothing can be asked at present: it is not connected. Undefined: it can. */
  obstacle(): string | undefined;

  /**
   * The server an operation on this goes to, by a name of its own; `''` where there is but one. Undefined: several, or it is
   * not known.
   */
  serverOf(target: Target): string | undefined;

  /** Resolves when that server has answered, also if the store no longer uses it. */
  probe(server: string): Promise<void>;

  /** That server has been silent for long: makes its connection anew, if it belongs to the store. */
  reconnect(server: string): void;

  /** Resolves when the store is usable or known not to be, within its own bound. Never rejects. */
  open(): Promise<void>;

  /** Gives back every connection and timer of its own. Idempotent, bounded in time, never rejects. */
  close(): Promise<void>;
}

/** What an operation concerns: an entry, tags by their ids, the epochs, or the versions of a name. */
export type Target = EntryKey | readonly string[] | 'epochs' | { readonly versionsOf: string };

export interface AcquireRequest {
  /** The lease's token, 22 base64url characters, and the id of the entry that it will publish. */
  readonly token: string;
  readonly leaseMs: number;
  /** Who asks, for `inspect`: host and process. At most 64 visible ASCII characters without a comma. */
  readonly holder: string;
  /**
   * `load`: a foreground load. `refresh`: a background one. `probe`: takes nothing, only tells (see `free`).
   */
  readonly mode: 'load' | 'refresh' | 'probe';
  /** Marks a held lease as contended, so that its end wakes us. Only with working push. */
  readonly willWait: boolean;
  /** The id of an entry the caller found unusable, byte for byte as latin1: exactly this one is no hit. Empty: none. */
  readonly rejectedId: string;
  /** A usable stale value is in the caller's hands: failure markers bind it. */
  readonly hasStale: boolean;
  /** The token of the lease this caller was told to wait for: its left outcome binds it. Empty: none. */
  readonly waitedOn: string;
}

/** How long an invalidated tag is kept at least, ms. Loads that took longer and learn of tags at their end are not stored. */
export const INVALIDATED_TAG_LIFE = 600_000;

/** What is kept of a tag. Entries carry `hard` and `soft` as they were before their load. */
export interface TagState {
  /** New with each creation and invalidation, and never twice the same: at most 24 characters of `[A-Za-z0-9_-]`. */
  readonly hard: string;
  /** New with each soft expiry; empty: there was none. At most 24 characters of `[A-Za-z0-9_-]`. */
  readonly soft: string;
  /** Store time of the last soft expiry, ms; 0: none. */
  readonly softAt: number;
  /** Store time of the invalidation that made `hard`, ms; 0: it was merely created. */
  readonly invalidatedAt: number;
  /** Store time until which no load that begins may store anything under the tag; 0: none. */
  readonly heldUntil: number;
}

/**
 * A change that some process made. `entry`: an entry was set, invalidated or expired, or a load that others waited for has
 * published it; `place` is its `placeOf`. A store in this process need not tell of entries. `gap`: changes may have been missed.
 */
export type Signal =
  | { readonly kind: 'entry'; readonly place: string }
  | { readonly kind: 'tag'; readonly id: string; readonly state: TagState }
  | { readonly kind: 'epoch'; readonly scope: string; readonly epoch: number }
  | { readonly kind: 'gap' };

/**
 * - `hit`: a usable entry is there, read it again.
 * - `owner`: the lease is ours (also on a resend of our own token).
 * - `wait`: somebody else's lease stands for `ms` more milliseconds under `token`.
 * - `resting`: the last refresh failed; the fleet rests for `ms` more milliseconds.
 * - `outcome`: the load waited for has ended without an entry; `outcome` is what it left.
 * - `heldOff`: nothing may be stored for `ms` more milliseconds (a probe is told so too).
 * - `free`: a probe found neither entry nor lease.
 */
export type AcquireReply =
  | { readonly code: 'hit' | 'owner' | 'free'; readonly now: number }
  | { readonly code: 'wait'; readonly now: number; readonly ms: number; readonly token: string }
  | { readonly code: 'resting' | 'heldOff'; readonly now: number; readonly ms: number }
  | { readonly code: 'outcome'; readonly now: number; readonly outcome: string };

export interface CommitRequest {
  readonly token: string;
  readonly bytes: Buffer;
  /** How long the store keeps the entry, milliseconds. */
  readonly hardMs: number;
  /** The id of an entry found unusable: its source version binds nobody. Empty: none. */
  readonly rejectedId: string;
}

/**
 * `stored`; `already` (a resend); `fenced`: the lease was lost, nothing was written; `missing`: the staged value vanished,
 * the lease was released; `older`: both carry a source version and the stored entry's is greater, nothing was written, the
 * lease is still held.
 */
export type CommitReply = 'stored' | 'already' | 'fenced' | 'missing' | 'older';

export interface TouchRequest {
  readonly token: string;
  /** The id of the entry that is to be kept. */
  readonly entryId: string;
  /** Replaces the entry's first bytes; as long as what it replaces. Carries `token` as the new id. */
  readonly head: Buffer;
  readonly hardMs: number;
}

/** `gone`: another entry or none is there; the lease is still held. */
export type TouchReply = 'stored' | 'already' | 'fenced' | 'gone';

export interface LeaseState {
  readonly held: boolean;
  readonly contended: boolean;
}

export interface ReleaseRequest {
  readonly token: string;
  /** What waiters are told, and find for up to 2 s if the lease was contended. Empty: one of them takes over. */
  readonly outcome: string;
  /** Leaves a failure marker, if an entry is still stored: rest = min(cap, base x 2^failures) x scale. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number; readonly scale: number };
}

export interface PutRequest {
  /** The entry's id. */
  readonly token: string;
  readonly bytes: Buffer;
  readonly hardMs: number;
  /** Store time after which the write must not happen any more: a timed-out command may run late. */
  readonly notAfter: number;
}

/**
 * Why waiters are woken. `published`: an entry is there. `ended`: the load under `token` ended without one, `outcome` says
 * how (empty: one waiter takes over). `invalidated`. `unknown`: pushes may have been missed.
 */
export type Wake =
  | { readonly kind: 'published' | 'invalidated' | 'unknown' }
  | { readonly kind: 'ended'; readonly token: string; readonly outcome: string };

export interface StoredFacts {
  readonly bytes: Buffer | null;
  /** Remaining life of the entry in the store, ms; 0 without an entry. */
  readonly ttlMs: number;
  readonly now: number;
  readonly lease?: { readonly holder: string; readonly since: number; readonly expiresIn: number };
}
