import { show } from '../show.js';
import type { Cancel, Runtime } from '../ports.js';

/** Owns every promise nobody awaits, so that none is unhandled and a shutdown can wait for them. */
export class Background {
  private readonly running = new Set<Promise<void>>();

  constructor(private readonly runtime: Runtime) {}

  /** Takes over a task. A failure is logged: tasks handle what they expect themselves. */
  own(task: Promise<void>): void {
    const over = (): void => void this.running.delete(owned);
    const owned: Promise<void> = task.then(over, (error: unknown) => {
      over();
      this.runtime.log.warn(`A background task failed: ${show(error)}`);
    });
    this.running.add(owned);
  }

  /** Resolves when all tasks, also those they start meanwhile, are done, or after `ms`. */
  async drain(ms: number): Promise<void> {
    let late = false;
    let stop: Cancel = () => undefined;
    const timeout = new Promise<void>((resolve) => {
      stop = this.runtime.timers.after(ms, () => {
        late = true;
        resolve();
      });
    });
    while (this.running.size > 0 && !late) await Promise.race([Promise.all(this.running), timeout]);
    stop();
  }
}
