import type { Clock } from '../ports.js';

/** A queue may hold so many times what was served from it within one deadline: the estimate is coarse. */
const MARGIN = 1.5;

/**
 * How fast a queue is served, and whether one that joins it now has a chance to be served before its deadline. The back of a
 * queue that has long been too long would wait for nothing, and all of it costs memory while the process has least to spare.
 */
export class Drain {
  /** Since when the queue has not been empty. */
  private busySince: number | undefined;
  /** Places served in this half of a deadline and in the one before. */
  private now = 0;
  private before = 0;
  private halfSince = -Infinity;

  constructor(
    private readonly clock: Clock,
    /** How long one waits at most, ms. */
    private readonly deadline: number,
  ) {}

  joined(): void {
    this.busySince ??= this.clock.now();
  }

  emptied(): void {
    this.busySince = undefined;
  }

  served(): void {
    this.turn();
    this.now += 1;
  }

  /** Whether the last of `queued` would be served in time, as far as the last deadline tells; a young queue always is. */
  isHopeless(queued: number): boolean {
    if (this.busySince === undefined || this.clock.now() - this.busySince < this.deadline) return false;
    this.turn();
    return queued > MARGIN * this.rate() * this.deadline;
  }

  /** Places served a ms. */
  private rate(): number {
    const elapsed = this.deadline / 2 + (this.clock.now() - this.halfSince);
    return (this.now + this.before) / Math.max(1, elapsed);
  }

  private turn(): void {
    const now = this.clock.now();
    const half = Math.max(1, this.deadline / 2);
    if (now - this.halfSince < half) return;
    this.before = now - this.halfSince < 2 * half ? this.now : 0;
    this.now = 0;
    this.halfSince = now;
  }
}
