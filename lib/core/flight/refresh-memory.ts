import { placeOf, type EntryKey } from '../keys/index.js';

interface Attempt {
  readonly entryId: string;
  /** An early refresh of this very entry was tried here. */
  readonly early: boolean;
  /** Monotonic time until which this process need not ask again. */
  readonly restUntil: number;
}

/** Keys remembered at most; the oldest are forgotten first, which costs one more question to the store. */
const CAPACITY = 10_000;

/**
 * What this process learned when it asked for the right to refresh an entry: one early attempt per entry, and no question
 * while somebody else is known to refresh it or the fleet is known to rest.
 */
export class RefreshMemory {
  private readonly attempts = new Map<string, Attempt>();

  get size(): number {
    return this.attempts.size;
  }

  mayAsk(key: EntryKey, entryId: string, early: boolean, now: number): boolean {
    const last = this.attempts.get(placeOf(key));
    if (last === undefined || last.entryId !== entryId) return true;
    return now >= last.restUntil && !(early && last.early);
  }

  remember(key: EntryKey, attempt: Attempt): void {
    this.attempts.delete(placeOf(key));
    this.attempts.set(placeOf(key), attempt);
    if (this.attempts.size <= CAPACITY) return;
    const [oldest] = this.attempts.keys();
    if (oldest !== undefined) this.attempts.delete(oldest);
  }

  forget(key: EntryKey): void {
    this.attempts.delete(placeOf(key));
  }
}
