import type { EntryKey } from '../core/keys/index.js';
import type { Cancel, Clock, Runtime } from '../core/ports.js';
import type {
  AcquireReply,
  AcquireRequest,
  CommitReply,
  CommitRequest,
  LeaseState,
  PutRequest,
  ReleaseRequest,
  Store,
  StoredFacts,
  TouchReply,
  TouchRequest,
  Wake,
} from '../core/store.js';
import { entryId, isUsable } from './entry-view.js';
import { EntryTable } from './entry-table.js';
import { endedLease, LeaseTable } from './lease-table.js';
import { Sweeper } from './sweeper.js';
import { WakeBoard } from './wake-board.js';

export interface MemoryStoreOptions {
  readonly runtime: Runtime;
  /** Entries kept at most, the least recently used first out. Default 10,000. */
  readonly maxEntries?: number;
  /** Bytes kept at most, keys and bookkeeping estimated along. Default 256 MiB. */
  readonly maxBytes?: number;
  /** The wall clock when the store is made, epoch ms; its time goes on from there monotonically. Default: now. */
  readonly epochMs?: number;
}

/** A {@link Store} in this process: the same leases, fences, markers and wake-ups as in Redis, for one process. */
export function createMemoryStore(options: MemoryStoreOptions): Store {
  return new MemoryStore(options);
}

/** Everything between two awaits is atomic in one process, so each operation does all its work before its first one. */
class MemoryStore implements Store {
  readonly kind = 'memory';
  readonly #clock: Clock;
  readonly #entries: EntryTable;
  readonly #leases = new LeaseTable();
  readonly #wakes: WakeBoard;
  readonly #sweeper: Sweeper;
  /** Store time minus monotonic time. */
  readonly #offset: number;
  #closed = false;

  constructor({
    runtime,
    maxEntries = 10_000,
    maxBytes = 256 * 1024 * 1024,
    epochMs = Date.now(),
  }: MemoryStoreOptions) {
    this.#entries = new EntryTable(maxEntries, maxBytes);
    this.#wakes = new WakeBoard(runtime);
    this.#sweeper = new Sweeper(runtime, [this.#entries, this.#leases], () => this.now());
    this.#offset = epochMs - runtime.clock.now();
    this.#clock = runtime.clock;
  }

  now(): number {
    return Math.floor(this.#clock.now() + this.#offset);
  }

  /** The stored bytes themselves: to be read, never written to. */
  async read(key: EntryKey): Promise<Buffer | null> {
    return this.#entries.use(key.id, this.#enter())?.bytes ?? null;
  }

  async acquire({ id }: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
    const now = this.#enter();
    const entry = this.#entries.peek(id, now);
    if (entry !== undefined && isUsable(entry.bytes, request.rejectedId, now)) return { code: 'hit', now };

    const lease = this.#leases.get(id, now);
    if (lease?.state === 'held') {
      if (lease.token !== request.token) {
        lease.contended ||= request.willWait;
        return { code: 'wait', now, ms: lease.expiresAt - now, token: lease.token };
      }
      if (request.mode !== 'probe') lease.expiresAt = now + request.leaseMs;
      return { code: 'owner', now };
    }
    if (lease !== undefined && lease.token === request.waitedOn && now < lease.outcomeUntil) {
      return { code: 'outcome', now, outcome: lease.outcome };
    }
    if (lease !== undefined && request.hasStale && now < lease.restUntil) {
      return { code: 'resting', now, ms: lease.restUntil - now };
    }
    if (request.mode === 'probe') return { code: 'free', now };
    this.#grant(id, request, lease?.failures ?? 0, now);
    return { code: 'owner', now };
  }

  async commit({ id }: EntryKey, { token, bytes, hardMs }: CommitRequest): Promise<CommitReply> {
    const now = this.#enter();
    if (this.#leases.heldBy(id, token, now) === undefined)
      return this.#carries(id, token, now) ? 'already' : 'fenced';
    this.#store(id, bytes, now + hardMs);
    this.#endLease(id, { kind: 'published' }, now);
    return 'stored';
  }

  async touch({ id }: EntryKey, { token, entryId: kept, head, hardMs }: TouchRequest): Promise<TouchReply> {
    const now = this.#enter();
    if (this.#leases.heldBy(id, token, now) === undefined)
      return this.#carries(id, token, now) ? 'already' : 'fenced';
    const entry = this.#entries.peek(id, now);
    if (entry === undefined || entryId(entry.bytes) !== kept) return 'gone';
    // A new buffer: whoever reads the old one still has it in hands.
    this.#store(id, Buffer.concat([head, entry.bytes.subarray(head.length)]), now + hardMs);
    this.#endLease(id, { kind: 'published' }, now);
    return 'stored';
  }

  async renew({ id }: EntryKey, token: string, leaseMs: number): Promise<LeaseState> {
    const now = this.#enter();
    const lease = this.#leases.heldBy(id, token, now);
    if (lease === undefined) return { held: false, contended: false };
    lease.expiresAt = now + leaseMs;
    return { held: true, contended: lease.contended };
  }

  async release({ id }: EntryKey, { token, outcome, backoff }: ReleaseRequest): Promise<boolean> {
    const now = this.#enter();
    const lease = this.#leases.get(id, now);
    if (lease?.token !== token) return false;
    // A resend, whose work is done.
    if (lease.state === 'ended') return true;
    // With nothing stale to fall back on, the next call may load at once.
    const stale = this.#entries.peek(id, now) !== undefined;
    this.#endLease(id, { kind: 'ended', token, outcome }, now);
    const left = endedLease(lease, outcome, stale ? backoff : undefined, now);
    if (left !== undefined) this.#leases.set(id, left);
    return true;
  }

  async put({ id }: EntryKey, { token, bytes, hardMs, notAfter }: PutRequest): Promise<'stored' | 'late'> {
    const now = this.#enter();
    if (this.#carries(id, token, now)) return 'stored';
    if (now > notAfter) return 'late';
    this.#store(id, bytes, now + hardMs);
    this.#endLease(id, { kind: 'published' }, now);
    return 'stored';
  }

  async write({ id }: EntryKey, bytes: Buffer, hardMs: number): Promise<void> {
    this.#store(id, bytes, this.#enter() + hardMs);
  }

  async invalidate({ id }: EntryKey): Promise<void> {
    const now = this.#enter();
    this.#entries.delete(id);
    this.#endLease(id, { kind: 'invalidated' }, now);
  }

  async peek({ id }: EntryKey): Promise<StoredFacts> {
    const now = this.#enter();
    const entry = this.#entries.peek(id, now);
    const lease = this.#leases.held(id, now);
    return {
      bytes: entry?.bytes ?? null,
      ttlMs: entry === undefined ? 0 : entry.expiresAt - now,
      now,
      ...(lease !== undefined && {
        lease: { holder: lease.holder, since: lease.since, expiresIn: lease.expiresAt - now },
      }),
    };
  }

  listen({ id }: EntryKey, onWake: (wake: Wake) => void): Cancel {
    return this.#closed ? () => {} : this.#wakes.listen(id, onWake);
  }

  pushUp(): boolean {
    return !this.#closed;
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweeper.stop();
    this.#wakes.clear();
    this.#entries.clear();
    this.#leases.clear();
  }

  /** The time of an operation. */
  #enter(): number {
    if (this.#closed) throw new Error('The memory store was used after close(): it holds nothing any more.');
    return this.now();
  }

  #grant(id: string, { token, holder, leaseMs }: AcquireRequest, failures: number, now: number): void {
    const expiresAt = now + leaseMs;
    this.#leases.set(id, { state: 'held', token, holder, since: now, contended: false, expiresAt, failures });
    this.#sweeper.start();
  }

  #store(id: string, bytes: Buffer, expiresAt: number): void {
    this.#entries.set(id, { bytes, expiresAt });
    this.#sweeper.start();
  }

  /** Drops the lease, or what an ended one left, and wakes those who wait. */
  #endLease(id: string, wake: Wake, now: number): void {
    const contended = this.#leases.held(id, now)?.contended === true;
    this.#leases.delete(id);
    if (contended) this.#wakes.wake(id, wake);
  }

  /** Whether the entry is the one `token` wrote: a resend finds its own work done. */
  #carries(id: string, token: string, now: number): boolean {
    const entry = this.#entries.peek(id, now);
    return entry !== undefined && entryId(entry.bytes) === token;
  }
}
