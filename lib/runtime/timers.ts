import { clearImmediate, clearTimeout, setImmediate, setTimeout } from 'node:timers';
import type { Clock, Timers } from '../core/ports.js';

/** The longest delay Node's timers take; a longer one would fire at once. */
const LONGEST_DELAY = 2 ** 31 - 1;

// Taken once, at load: a test suite's fake timers replace it on `process`, and then no batch would ever end.
const nextTick = process.nextTick.bind(process);
const settled = Promise.resolve();

export function createTimers(clock: Clock, longestDelay = LONGEST_DELAY): Timers {
  return {
    after: (ms, fn, background = false) => {
      const timer = new Timer(clock, longestDelay, ms, fn, background);
      return () => timer.stop();
    },
    // A tick queued outside of a microtask runs *before* the microtasks, so it is queued from within one.
    endOfTick: (fn) => void settled.then(() => nextTick(fn)),
    // Referenced: Node does not wake an idle loop for an immediate that is not.
    endOfTurn: (fn) => void setImmediate(fn),
  };
}

/** A class, so that thousands of waiting callers cost an object each, and not a handful of closures. */
class Timer {
  private readonly due: number;
  private timeout: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly longestDelay: number,
    ms: number,
    private readonly fn: () => void,
    private readonly background: boolean,
  ) {
    this.due = clock.now() + ms;
    this.arm(ms);
  }

  stop(): void {
    clearTimeout(this.timeout);
    clearImmediate(this.immediate);
  }

  private arm(delay: number): void {
    // Rounded up: Node cuts fractions off. Whole delays may fire a little early too, see `onTimeout`.
    this.timeout = setTimeout(fire, Math.min(Math.ceil(delay), this.longestDelay), this);
    if (this.background) this.timeout.unref();
  }

  onTimeout(): void {
    const left = this.due - this.clock.now();
    if (left > 0) return this.arm(left);
    // The poll phase lies between timers and immediates: replies that wait in a socket come first.
    // Referenced also in the background: Node does not wake an idle loop for an immediate that is not.
    this.immediate = setImmediate(this.fn);
  }
}

function fire(timer: Timer): void {
  timer.onTimeout();
}
