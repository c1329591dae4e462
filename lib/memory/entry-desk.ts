import type {
  AcquireReply,
  AcquireRequest,
  CommitReply,
  CommitRequest,
  LeaseState,
  PutRequest,
  ReleaseRequest,
  StoredFacts,
  TouchReply,
  TouchRequest,
  Wake,
} from '../core/store.js';
import type { EntryTable } from './entry-table.js';
import { entryId, isNewerThan, isUsable, staleAsOf } from './entry-view.js';
import { endedLease, type LeaseTable } from './lease-table.js';
import type { WakeBoard } from './wake-board.js';

/** What can be done to one entry and its lease, each operation whole in itself. `id`: where both lie in their tables. */
export class EntryDesk {
  constructor(
    private readonly entries: EntryTable,
    private readonly leases: LeaseTable,
    private readonly wakes: WakeBoard,
  ) {}

  acquire(id: string, request: AcquireRequest, now: number): AcquireReply {
    const entry = this.entries.peek(id, now);
    if (entry !== undefined && isUsable(entry.bytes, request.rejectedId, now)) return { code: 'hit', now };

    const lease = this.leases.get(id, now);
    if (lease?.state === 'heldOff') return { code: 'heldOff', now, ms: lease.expiresAt - now };
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
    this.grant(id, request, lease?.failures ?? 0, now);
    return { code: 'owner', now };
  }

  commit(id: string, { token, bytes, hardMs, rejectedId }: CommitRequest, now: number): CommitReply {
    if (this.leases.heldBy(id, token, now) === undefined)
      return this.carries(id, token, now) ? 'already' : 'fenced';
    const stored = this.entries.peek(id, now);
    // What was found unusable must not keep anything from being stored.
    const binds = stored !== undefined && entryId(stored.bytes) !== rejectedId;
    if (binds && isNewerThan(stored.bytes, bytes)) return 'older';
    this.entries.set(id, { bytes, expiresAt: now + hardMs });
    this.endLease(id, { kind: 'published' }, now);
    return 'stored';
  }

  touch(id: string, { token, entryId: kept, head, hardMs }: TouchRequest, now: number): TouchReply {
    if (this.leases.heldBy(id, token, now) === undefined)
      return this.carries(id, token, now) ? 'already' : 'fenced';
    const entry = this.entries.peek(id, now);
    if (entry === undefined || entryId(entry.bytes) !== kept) return 'gone';
    // A new buffer: whoever reads the old one still has it in hands.
    const bytes = Buffer.concat([head, entry.bytes.subarray(head.length)]);
    this.entries.set(id, { bytes, expiresAt: now + hardMs });
    this.endLease(id, { kind: 'published' }, now);
    return 'stored';
  }

  renew(id: string, token: string, leaseMs: number, now: number): LeaseState {
    const lease = this.leases.heldBy(id, token, now);
    if (lease === undefined) return { held: false, contended: false };
    lease.expiresAt = now + leaseMs;
    return { held: true, contended: lease.contended };
  }

  release(id: string, { token, outcome, backoff }: ReleaseRequest, now: number): boolean {
    const lease = this.leases.get(id, now);
    if (lease === undefined || lease.state === 'heldOff' || lease.token !== token) return false;
    // A resend, whose work is done.
    if (lease.state === 'ended') return true;
    // With nothing stale to fall back on, the next call may load at once.
    const stale = this.entries.peek(id, now) !== undefined;
    this.endLease(id, { kind: 'ended', token, outcome }, now);
    const left = endedLease(lease, outcome, stale ? backoff : undefined, now);
    if (left !== undefined) this.leases.set(id, left);
    return true;
  }

  put(id: string, { token, bytes, hardMs, notAfter }: PutRequest, now: number): 'stored' | 'late' {
    if (this.carries(id, token, now)) return 'stored';
    if (now > notAfter) return 'late';
    this.entries.set(id, { bytes, expiresAt: now + hardMs });
    this.change(id, 'published', now);
    return 'stored';
  }

  invalidate(id: string, holdOffMs: number, now: number): void {
    this.entries.delete(id);
    this.change(id, 'invalidated', now, holdOffMs);
  }

  expire(id: string, now: number): void {
    const entry = this.entries.peek(id, now);
    const bytes = entry === undefined ? undefined : staleAsOf(entry.bytes, now);
    if (entry !== undefined && bytes !== undefined) this.entries.set(id, { ...entry, bytes });
    // The rest after a failure ends, too: the change may have mended its cause.
    this.change(id, 'invalidated', now);
  }

  peek(id: string, now: number): StoredFacts {
    const entry = this.entries.peek(id, now);
    const lease = this.leases.held(id, now);
    return {
      bytes: entry?.bytes ?? null,
      ttlMs: entry === undefined ? 0 : entry.expiresAt - now,
      now,
      ...(lease !== undefined && {
        lease: { holder: lease.holder, since: lease.since, expiresIn: lease.expiresAt - now },
      }),
    };
  }

  private grant(id: string, { token, holder, leaseMs }: AcquireRequest, failures: number, now: number): void {
    const expiresAt = now + leaseMs;
    this.leases.set(id, { state: 'held', token, holder, since: now, contended: false, expiresAt, failures });
  }

  /** Drops the lease, or what an ended one left, and wakes those who wait. A hold-off stays, or begins. */
  private endLease(id: string, wake: Wake, now: number): void {
    const contended = this.leases.held(id, now)?.contended === true;
    this.leases.end(id, 0, now);
    if (contended) this.wakes.wake(id, wake);
  }

  /** The same, by somebody who does not hold the lease: told in any case. */
  private change(id: string, kind: 'published' | 'invalidated', now: number, holdOffMs = 0): void {
    this.leases.end(id, holdOffMs, now);
    this.wakes.wake(id, { kind });
  }

  /** Whether the entry is the one `token` wrote: a resend finds its own work done. */
  private carries(id: string, token: string, now: number): boolean {
    const entry = this.entries.peek(id, now);
    return entry !== undefined && entryId(entry.bytes) === token;
  }
}
