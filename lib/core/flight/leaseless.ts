import { placeOf, type EntryKey } from '../keys/index.js';
import type { Clock } from '../ports.js';

/** Keys remembered at most; the oldest are forgotten first, which costs a load. */
const CAPACITY = 10_000;

/**
 * What the store would see to, and this process does for itself while nobody grants leases: one load of a key at a time, and
 * rest after a failure.
 */
export class Leaseless {
  private readonly running = new Map<string, Promise<void>>();
  /** Monotonic time until which a key rests. */
  private readonly rests = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** Resolves when no load of the key that was begun here before runs any more. Undefined: none does. */
  before(key: EntryKey): Promise<void> | undefined {
    return this.running.get(placeOf(key));
  }

  /** A load of the key runs until `load` is over. */
  runs(key: EntryKey, load: Promise<void>): void {
    const place = placeOf(key);
    const over = (): void => {
      if (this.running.get(place) === ended) this.running.delete(place);
    };
    const ended: Promise<void> = load.then(over, over);
    this.running.set(place, ended);
  }

  /** Whether those who hold a stale value should take it. */
  isResting(key: EntryKey): boolean {
    const place = placeOf(key);
    const until = this.rests.get(place);
    if (until === undefined) return false;
    if (this.clock.now() < until) return true;
    this.rests.delete(place);
    return false;
  }

  rest(key: EntryKey, ms: number): void {
    const place = placeOf(key);
    this.rests.delete(place);
    this.rests.set(place, this.clock.now() + ms);
    if (this.rests.size <= CAPACITY) return;
    const [oldest] = this.rests.keys();
    if (oldest !== undefined) this.rests.delete(oldest);
  }
}
