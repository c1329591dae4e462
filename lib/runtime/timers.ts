import { clearImmediate, clearTimeout, setImmediate, setTimeout } from 'node:timers';
import type { Cancel, Clock, Timers } from '../core/ports.js';

/** The longest delay Node's timers take; a longer one would fire at once. */
const LONGEST_DELAY = 2 ** 31 - 1;

// Taken once, at load: a test suite's fake timers replace it on `process`, and then no batch would ever end.
const nextTick = process.nextTick.bind(process);
const settled = Promise.resolve();

export function createTimers(clock: Clock, longestDelay = LONGEST_DELAY): Timers {
  return {
    after: (ms, fn, background = false) => startTimer(clock, longestDelay, ms, fn, background),
    // A tick queued outside of a microtask runs *before* the microtasks, so it is queued from within one.
    endOfTick: (fn) => void settled.then(() => nextTick(fn)),
  };
}

function startTimer(
  clock: Clock,
  longestDelay: number,
  ms: number,
  fn: () => void,
  background: boolean,
): Cancel {
  const due = clock.now() + ms;
  let disarm: Cancel;

  const arm = (delay: number): void => {
    // Rounded up: Node cuts fractions off. Whole delays may fire a little early too, see `onTimeout`.
    const timeout = setTimeout(onTimeout, Math.min(Math.ceil(delay), longestDelay));
    if (background) timeout.unref();
    disarm = () => clearTimeout(timeout);
  };
  const onTimeout = (): void => {
    const left = due - clock.now();
    if (left > 0) return arm(left);
    // The poll phase lies between timers and immediates: replies that wait in a socket come first.
    // Referenced also in the background: Node does not wake an idle loop for an immediate that is not.
    const immediate = setImmediate(fn);
    disarm = () => clearImmediate(immediate);
  };

  arm(ms);
  return () => disarm();
}
