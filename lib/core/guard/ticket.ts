import { deferred } from '../deferred.js';
import type { Cancel } from '../ports.js';
import type { Slot } from './slot.js';

/** One load's place in the queue for a slot. */
export class Ticket {
  private readonly outcome = deferred<Slot>();
  private settled = false;
  private readonly parents = new Set<Slot>();
  /** Set by the guard: takes this ticket out of its queue and stops its timer. */
  onSettled: Cancel = () => undefined;

  constructor(public background: boolean) {
    // Whoever waits sees the rejection; a ticket whose waiter is gone must not count as unhandled.
    this.outcome.promise.catch(() => undefined);
  }

  get slot(): Promise<Slot> {
    return this.outcome.promise;
  }

  get waiting(): boolean {
    return !this.settled;
  }

  /** Hands over a slot; one that comes too late goes straight back. */
  grant(slot: Slot): void {
    if (this.settled) {
      slot.release();
      return;
    }
    this.settle();
    this.outcome.resolve(slot);
  }

  reject(error: unknown): void {
    if (this.settled) return;
    this.settle();
    this.outcome.reject(error);
  }

  /** Takes the slot of a load that waits for this one, now or when it is back: otherwise both would wait for ever. */
  borrowFrom(parent: Slot): void {
    if (this.settled) return;
    const slot = parent.lend();
    if (slot) {
      this.grant(slot);
      return;
    }
    this.parents.add(parent);
    parent.want(this);
  }

  private settle(): void {
    this.settled = true;
    for (const parent of this.parents) parent.forget(this);
    this.onSettled();
  }
}
