import type { Corkable } from './redis-like.js';

/**
 * Lets the commands of one turn leave in one write. A client writes each for itself: for the leases of a thousand keys that
 * would be a thousand system calls, and Redis would be woken as often.
 */
export class Writes {
  private gathering: Corkable | undefined;

  /**
   * Whatever is written to it from here on leaves after the promise callbacks that are due by now, and before those that what
   * runs now makes due: a caller that is answered finds sent what was sent for it.
   */
  gather(stream: Corkable | undefined): void {
    if (this.gathering !== undefined || typeof stream?.cork !== 'function') return;
    this.gathering = stream;
    stream.cork();
    queueMicrotask(() => {
      this.gathering = undefined;
      stream.uncork();
    });
  }
}
