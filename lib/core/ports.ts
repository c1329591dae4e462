/** Undoes what returned it. Calling it twice is harmless. */
export type Cancel = () => void;

/** Monotonic time in milliseconds. Never a wall clock: two hosts' wall clocks are never compared. */
export interface Clock {
  now(): number;
}

/** The only source of timers in the core. */
export interface Timers {
  /**
   * Runs `fn` once, `ms` milliseconds from now at the earliest, and only after a full poll phase of the event loop:
   * after a stall, replies that already wait in a socket are delivered before any deadline is judged.
   * A `background` timer does not keep the process alive.
   */
  after(ms: number, fn: () => void, background?: boolean): Cancel;

  /** Runs `fn` when the current tick, microtasks included, has run dry. */
  endOfTick(fn: () => void): void;

  /** Runs `fn` when what had arrived when it was asked for is dealt with: requests and replies that wait in sockets. */
  endOfTurn(fn: () => void): void;
}

/** The only source of chance in the core. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** 16 random bytes as 22 base64url characters. Never repeats. */
  token(): string;
}

/** Where one-line messages for operators go. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
}

/** Everything the core needs from its surroundings, so that tests can hold time and chance in their hands. */
export interface Runtime {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
}
