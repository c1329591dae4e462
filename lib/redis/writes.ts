import type { Corkable } from './redis-like.js';

/**
 * Lets the commands of one turn leave in one write. A client writes each for itself: for the leases of a thousand keys that
 * would be a thousand system calls, and Redis would be woken as often.
 */
export class Writes {
  private gathering: Corkable | undefined;

  /** Whatever is written to it from here on leaves when the code that runs now is done. */
  gather(stream: Corkable | undefined): void {
    if (this.gathering !== undefined || typeof stream?.cork !== 'function') return;
    this.gathering = stream;
    stream.cork();
    process.nextTick(() => {
      this.gathering = undefined;
      stream.uncork();
    });
  }
}
