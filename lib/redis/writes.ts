import type { Corkable } from './redis-like.js';

/** Commands in one write, roughly: Redis should be at work on the first while the last are made. */
const MOST = 100;

/**
 * Lets the commands of one turn leave in a few writes. A client writes each for itself: for the leases of a thousand keys that
 * would be a thousand system calls, and Redis would be woken as often.
 */
export class Writes {
  private gathering: Corkable | undefined;
  private count = 0;

  /**
   * Whatever is written to it from here on leaves after the promise callbacks that are due by now, and before those that what
   * runs now makes due: a caller that is answered finds sent what was sent for it.
   */
  gather(stream: Corkable | undefined): void {
    if (this.gathering !== undefined) {
      this.limit(this.gathering);
      return;
    }
    if (typeof stream?.cork !== 'function') return;
    this.gathering = stream;
    this.count = 1;
    stream.cork();
    queueMicrotask(() => {
      this.gathering = undefined;
      stream.uncork();
    });
  }

  private limit(stream: Corkable): void {
    this.count += 1;
    if (this.count <= MOST) return;
    this.count = 1;
    stream.uncork();
    stream.cork();
  }
}
