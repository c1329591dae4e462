import { deferred } from '../deferred.js';
import { nothing } from '../nothing.js';
import type { Cancel } from '../ports.js';
import type { Bearer, Home, Queued, Slot } from './slot.js';

/** One load's place in the queue for a slot. */
export class Ticket implements Queued {
  private readonly outcome = deferred<Slot>();
  private settled = false;
  private parents: Set<Slot> | undefined;
  /** Set by the pool: takes this ticket out of its queue and stops its timer. */
  onSettled: Cancel = nothing;
  /** Set by the pool: a load waits for it, and holds a slot meanwhile. */
  onNested: () => void = nothing;
  /** Set by the pool: it moves to the foreground's queue. */
  onPromoted: () => void = nothing;

  constructor(
    readonly home: Home,
    /** Whose load it is, for messages. */
    readonly where: string,
    public background: boolean,
    private readonly bearer: Bearer,
  ) {
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
    this.outcome.resolve(slot.give(this.bearer));
  }

  /** A foreground caller waits for this background load now. */
  promote(): void {
    if (!this.settled && this.background) this.onPromoted();
  }

  reject(error: unknown): void {
    if (this.settled) return;
    this.settle();
    if (this.bearer.permit) this.home.report(this.bearer.permit, 'nothing');
    this.outcome.reject(error);
  }

  /**
   * A load that has `parent` waits for this one: where its chain has a slot of this pool, that one will do, now or when it is
   * back. Otherwise both would wait for ever.
   */
  borrowFrom(parent: Slot): void {
    if (this.settled) return;
    const own = parent.in(this.home);
    const slot = own?.lend();
    if (slot) {
      this.grant(slot);
      return;
    }
    if (own) {
      (this.parents ??= new Set()).add(own);
      own.want(this);
    }
    this.onNested();
  }

  private settle(): void {
    this.settled = true;
    for (const parent of this.parents ?? []) parent.forget(this);
    this.onSettled();
  }
}
