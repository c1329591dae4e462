import { setImmediate } from 'node:timers';
import type { Cancel, Runtime } from '../../lib/core/ports.js';

export interface FakeLogLine {
  readonly level: 'info' | 'warn';
  readonly message: string;
}

export interface FakeRuntime {
  readonly runtime: Runtime;
  readonly logs: readonly FakeLogLine[];
  /**
   * Moves the clock by `ms`, running each timer that falls due at its own time, in order, also those that are created on
   * the way. Promise chains of any depth settle before the first timer, between timers and after the last one.
   * Rejects with what a timer's function threw.
   */
  readonly advance: (ms: number) => Promise<void>;
  /** Moves the clock and runs nothing, as a blocked event loop would. What fell due runs in the next `advance`. */
  readonly stall: (ms: number) => void;
  /** Lets promises, ticks and immediates run dry; the clock stands. */
  readonly settle: () => Promise<void>;
  /** What `random.next()` yields from now on: the list in turn, then its last value for ever; or a function. */
  readonly setRandom: (source: readonly number[] | (() => number)) => void;
  /** Timers that are still armed, to find those nobody cancelled. */
  readonly pending: () => { readonly foreground: number; readonly background: number };
}

interface FakeTimer {
  readonly due: number;
  readonly fn: () => void;
  readonly background: boolean;
}

/** Turns of the event loop in which code that hops through real immediates or I/O callbacks may come to rest. */
const TURNS = 4;

/** A {@link Runtime} whose time and chance lie in the test's hands. Two with one seed behave alike. */
export function createFakeRuntime({ seed = 1 }: { readonly seed?: number } = {}): FakeRuntime {
  let now = 5_000;
  let tokens = 0;
  let next = mulberry32(seed);
  let advancing = false;
  const timers = new Set<FakeTimer>();
  const logs: FakeLogLine[] = [];

  const after = (ms: number, fn: () => void, background = false): Cancel => {
    if (Number.isNaN(ms)) throw new TypeError('timers.after got NaN milliseconds');
    const timer: FakeTimer = { due: now + Math.max(0, ms), fn, background };
    timers.add(timer);
    return () => void timers.delete(timer);
  };

  const run = async (until: number): Promise<void> => {
    await settle();
    for (let timer = earliest(timers, until); timer !== undefined; timer = earliest(timers, until)) {
      timers.delete(timer);
      now = Math.max(now, timer.due);
      timer.fn();
      await settle();
    }
    now = Math.max(now, until);
  };

  // As in the real runtime: a tick queued outside of a microtask would run before the microtasks.
  const endOfTick = (fn: () => void): void => void Promise.resolve().then(() => process.nextTick(fn));

  return {
    runtime: {
      clock: { now: () => now },
      timers: { after, endOfTick, endOfTurn: endOfTick },
      random: { next: () => next(), token: () => tokenNumber(seed, ++tokens) },
      log: {
        info: (message) => void logs.push({ level: 'info', message }),
        warn: (message) => void logs.push({ level: 'warn', message }),
      },
    },
    logs,
    async advance(ms) {
      if (advancing) throw new Error('advance() is still running: await it before the next one');
      advancing = true;
      try {
        await run(now + ms);
      } finally {
        advancing = false;
      }
    },
    stall(ms) {
      now += ms;
    },
    settle,
    setRandom(source) {
      next = typeof source === 'function' ? source : inTurn(source);
    },
    pending() {
      const background = [...timers].filter((timer) => timer.background).length;
      return { foreground: timers.size - background, background };
    },
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((resolve) => void setImmediate(resolve));
}

/** Of equal ones the first that was created: a Set keeps that order. */
function earliest(timers: ReadonlySet<FakeTimer>, until: number): FakeTimer | undefined {
  let found: FakeTimer | undefined;
  for (const timer of timers) {
    if (timer.due <= until && (found === undefined || timer.due < found.due)) found = timer;
  }
  return found;
}

function inTurn(values: readonly number[]): () => number {
  let at = 0;
  return () => {
    const value = values[Math.min(at++, values.length - 1)];
    if (value === undefined) throw new Error('setRandom got an empty list');
    return value;
  };
}

/** 22 base64url characters that tell at sight which runtime made them, and as its how many-th. */
function tokenNumber(seed: number, count: number): string {
  return `token-${String(seed).slice(0, 6)}-`.padEnd(14, '_') + String(count).padStart(8, '0');
}

/** A small, good enough generator (public domain, Tommy Ettinger): uniform in [0, 1). */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
