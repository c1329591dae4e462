import { constants } from 'node:os';

/** Somebody wants the demo to end. */
export class Interruption extends Error {
  constructor(readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super(`Stopped by ${signal}.`);
  }

  /** What a shell reports for a process that ended by this signal. */
  get exitCode(): number {
    return 128 + constants.signals[this.signal];
  }
}

/** Rejects with an `Interruption` at Ctrl-C and its like. */
export function interrupted(): Promise<never> {
  return new Promise((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      // `on`: a second Ctrl-C must not cut the cleaning up short.
      process.on(signal, () => reject(new Interruption(signal)));
    }
  });
}

/** Rejects after that many milliseconds. */
export function expired(limit: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    const tooLate = () => reject(new Error(`Not done after ${limit / 1_000} s. Is the machine busy?`));
    setTimeout(tooLate, limit).unref();
  });
}
