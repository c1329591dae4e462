import type { Timers } from './ports.js';

/** The job was not over in time. */
export const LATE: unique symbol = Symbol('late');

/** Runs so many jobs at once, the others in the order in which they came. */
export class Lane {
  private running = 0;
  /** A Set: who has waited too long leaves from the middle. */
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly timers: Timers,
    private readonly atOnce: number,
  ) {}

  /** What the job comes to, within `ms`. One that has not begun by then never will; of another the result is dropped. */
  run<T>(job: () => Promise<T>, ms: number): Promise<T | typeof LATE> {
    return new Promise((resolve, reject) => {
      const stop = this.timers.after(Math.max(0, ms), () => {
        this.waiting.delete(begin);
        resolve(LATE);
      });
      const begin = (): void => {
        this.running += 1;
        // A job may throw before it returns.
        void Promise.resolve()
          .then(job)
          .then(resolve, reject)
          .finally(() => {
            stop();
            this.running -= 1;
            this.next();
          });
      };
      this.waiting.add(begin);
      this.next();
    });
  }

  private next(): void {
    if (this.running >= this.atOnce) return;
    for (const begin of this.waiting) {
      this.waiting.delete(begin);
      return begin();
    }
  }
}
