import type { EntryKey } from './keys/index.js';
import type { Cancel } from './ports.js';

/**
 * Where entries and leases live, shared by the fleet (Redis) or by one process (memory). Every operation is atomic for
 * its key and idempotent under resend. A rejected promise means "unknown", never "absent".
 */
export interface Store {
  readonly kind: 'redis' | 'memory';

  /** The store's own time in epoch milliseconds, an integer. Soft expiries are judged by it. */
  now(): number;

  /** The entry's bytes as written, or null. One plain read, nothing is judged. */
  read(key: EntryKey): Promise<Buffer | null>;

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

  /** Explicit set: replaces the entry, revokes any running load, wakes. */
  put(key: EntryKey, request: PutRequest): Promise<'stored' | 'late'>;

  /** Writes without a fence and leaves a held lease alone (`coordinate: 'process' | 'none'`). */
  write(key: EntryKey, bytes: Buffer, hardMs: number): Promise<void>;

  /** Drops entry and lease, so that a load begun before can never publish; wakes. */
  invalidate(key: EntryKey): Promise<void>;

  /** The raw facts behind `inspect`. */
  peek(key: EntryKey): Promise<StoredFacts>;

  /** Calls `onWake` for each wake-up of `key` until cancelled. Registering happens at once, before it returns. */
  listen(key: EntryKey, onWake: (wake: Wake) => void): Cancel;

  /** Whether wake-ups reach this process at present. While they don't, waiters poll. */
  pushUp(): boolean;

  /** Resolves when the store is usable or known not to be, within its own bound. Never rejects. */
  open(): Promise<void>;

  /** Gives back every connection and timer of its own. Idempotent, bounded in time, never rejects. */
  close(): Promise<void>;
}

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

/**
 * - `hit`: a usable entry is there, read it again.
 * - `owner`: the lease is ours (also on a resend of our own token).
 * - `wait`: somebody else's lease stands for `ms` more milliseconds under `token`.
 * - `resting`: the last refresh failed; the fleet rests for `ms` more milliseconds.
 * - `outcome`: the load waited for has ended without an entry; `outcome` is what it left.
 * - `free`: a probe found neither entry nor lease.
 */
export type AcquireReply =
  | { readonly code: 'hit' | 'owner' | 'free'; readonly now: number }
  | { readonly code: 'wait'; readonly now: number; readonly ms: number; readonly token: string }
  | { readonly code: 'resting'; readonly now: number; readonly ms: number }
  | { readonly code: 'outcome'; readonly now: number; readonly outcome: string };

export interface CommitRequest {
  readonly token: string;
  readonly bytes: Buffer;
  /** How long the store keeps the entry, milliseconds. */
  readonly hardMs: number;
}

/**
 * `stored`; `already` (a resend); `fenced`: the lease was lost, nothing was written; `missing`: the staged value vanished,
 * the lease was released.
 */
export type CommitReply = 'stored' | 'already' | 'fenced' | 'missing';

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
