import type { Expiring } from './sweeper.js';

/** How long the outcome of a contended load stays for those who were told to wait for it, ms. */
const OUTCOME_LIFE = 2_000;
/** How long failures are counted on after a rest, ms, besides the length of that rest once more. */
const COUNT_LIFE = 10_000;

/** A load that runs. */
export interface HeldLease {
  readonly state: 'held';
  readonly token: string;
  readonly holder: string;
  readonly since: number;
  contended: boolean;
  expiresAt: number;
  /** Failures in a row before this load, for the doubling of the rest. */
  readonly failures: number;
}

/** What an ended load left in the lease's place. The lease counts as free, except for those whom this binds. */
export interface EndedLease {
  readonly state: 'ended';
  readonly token: string;
  readonly outcome: string;
  readonly outcomeUntil: number;
  readonly restUntil: number;
  readonly failures: number;
  readonly expiresAt: number;
}

/** Nothing may be loaded to be stored. */
export interface HoldOff {
  readonly state: 'heldOff';
  readonly expiresAt: number;
}

type Place = HeldLease | EndedLease | HoldOff;

export interface Backoff {
  readonly baseMs: number;
  readonly capMs: number;
  readonly scale: number;
}

/** Leases, what ended ones left, and hold-offs: one place a key. Nothing is ever evicted before its time. */
export class LeaseTable implements Expiring {
  readonly #leases = new Map<string, Place>();

  get size(): number {
    return this.#leases.size;
  }

  get(id: string, now: number): Place | undefined {
    const lease = this.#leases.get(id);
    if (lease === undefined || now < lease.expiresAt) return lease;
    this.#leases.delete(id);
    return undefined;
  }

  held(id: string, now: number): HeldLease | undefined {
    const lease = this.get(id, now);
    return lease?.state === 'held' ? lease : undefined;
  }

  /** The lease, if `token` still holds it. */
  heldBy(id: string, token: string, now: number): HeldLease | undefined {
    const lease = this.held(id, now);
    return lease?.token === token ? lease : undefined;
  }

  set(id: string, lease: Place): void {
    this.#leases.set(id, lease);
  }

  /** Takes away whatever is there, except a hold-off; puts one there if `holdOffMs` is longer than what is left of it. */
  end(id: string, holdOffMs: number, now: number): void {
    const place = this.get(id, now);
    const until = place?.state === 'heldOff' ? place.expiresAt : 0;
    if (holdOffMs > 0 && now + holdOffMs > until)
      this.#leases.set(id, { state: 'heldOff', expiresAt: now + holdOffMs });
    else if (until === 0) this.#leases.delete(id);
  }

  clear(): void {
    this.#leases.clear();
  }

  keys(): IterableIterator<string> {
    return this.#leases.keys();
  }

  expire(id: string, now: number): void {
    this.get(id, now);
  }
}

/** What `lease` leaves when it ends without an entry; undefined: nothing that would bind anybody. */
export function endedLease(
  lease: HeldLease,
  outcome: string,
  backoff: Backoff | undefined,
  now: number,
): EndedLease | undefined {
  const rest = backoff === undefined ? 0 : restAfter(lease.failures, backoff);
  const left = lease.contended ? outcome : '';
  if (rest === 0 && left === '') return undefined;
  return {
    state: 'ended',
    token: lease.token,
    outcome: left,
    outcomeUntil: left === '' ? 0 : now + OUTCOME_LIFE,
    restUntil: rest === 0 ? 0 : now + rest,
    failures: rest === 0 ? lease.failures : lease.failures + 1,
    // Past its rest the marker only keeps the count, for the next failure to double.
    expiresAt: now + (rest === 0 ? OUTCOME_LIFE : 2 * rest + COUNT_LIFE),
  };
}

function restAfter(failures: number, { baseMs, capMs, scale }: Backoff): number {
  return Math.floor(Math.min(capMs, baseMs * 2 ** failures) * scale);
}
