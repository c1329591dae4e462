import type { AbortWatch } from './abort-watch.js';
import type { Cancel, Timers } from './ports.js';

/** What is waited for a turn with. */
interface Content {
  readonly size: number;
}

interface Waiter {
  readonly content: Content;
  /** Its turn has come. */
  readonly go: () => void;
}

/** Beyond so many bytes that lie waiting nobody waits any more: a loop that is slow is better than one that runs out of memory. */
const MOST_HELD = 128 * 1_024 * 1_024;

/**
 * Lets callers at the event loop one after the other, each in a macrotask of its own, with what arrives meanwhile dealt with in
 * between. Keys take turns, so that the many callers of one do not hold up those of the others.
 */
export class Turns {
  /** Those who wait, by key, the next key first. */
  private readonly lines = new Map<string, Waiter[]>();
  /** How many wait with the same content, which is held once. */
  private readonly held = new Map<Content, number>();
  private heldBytes = 0;
  private isScheduled = false;

  constructor(
    private readonly timers: Timers,
    private readonly abortWatch: AbortWatch,
    private readonly mostHeld = MOST_HELD,
  ) {}

  /**
   * Waits for a turn, `ms` at most. Rejects with the signal's reason as soon as it aborts. Undefined: there is nothing to wait
   * for.
   */
  wait(
    place: string,
    content: Content,
    ms: number,
    signal: AbortSignal | undefined,
  ): Promise<void> | undefined {
    const isMore = !this.held.has(content);
    if (ms <= 0 || (isMore && this.heldBytes > 0 && this.heldBytes + content.size > this.mostHeld))
      return undefined;
    return new Promise((resolve, reject) => {
      const cancels: Cancel[] = [];
      const end = (settle: () => void) => (): void => {
        for (const cancel of cancels) cancel();
        this.leave(place, waiter);
        settle();
      };
      const waiter: Waiter = { content, go: end(resolve) };
      const abort = end(() => reject(signal?.reason as Error)); // whatever its owner gave
      this.enter(place, waiter);
      if (signal?.aborted) return abort();
      if (signal) cancels.push(this.abortWatch.on(signal, abort));
      cancels.push(this.timers.after(ms, waiter.go));
    });
  }

  private enter(place: string, waiter: Waiter): void {
    const { content } = waiter;
    const line = this.lines.get(place);
    if (line) line.push(waiter);
    else this.lines.set(place, [waiter]);
    const sharers = this.held.get(content) ?? 0;
    if (sharers === 0) this.heldBytes += content.size;
    this.held.set(content, sharers + 1);
    this.schedule();
  }

  private leave(place: string, waiter: Waiter): void {
    const { content } = waiter;
    const line = this.lines.get(place) ?? [];
    const index = line.indexOf(waiter);
    if (index < 0) return;
    line.splice(index, 1);
    if (line.length === 0) this.lines.delete(place);
    const sharers = (this.held.get(content) ?? 1) - 1;
    if (sharers > 0) {
      this.held.set(content, sharers);
      return;
    }
    this.held.delete(content);
    this.heldBytes -= content.size;
  }

  private schedule(): void {
    if (this.isScheduled || this.lines.size === 0) return;
    this.isScheduled = true;
    this.timers.endOfTurn(() => this.next());
  }

  private next(): void {
    this.isScheduled = false;
    const [first] = this.lines;
    if (first === undefined) return;
    const [place, line] = first;
    this.lines.delete(place);
    this.lines.set(place, line);
    line[0]?.go();
    this.schedule();
  }
}
