import type { Cancel, Log } from '../core/ports.js';
import type { Signal } from '../core/store.js';

/** Who watches the changes of tags and epochs. */
export class SignalBoard {
  /** Each registration is an object of its own, so that one function may watch twice. */
  readonly #watchers = new Set<{ readonly onSignal: (signal: Signal) => void }>();

  constructor(private readonly log: Log) {}

  watch(onSignal: (signal: Signal) => void): Cancel {
    const entry = { onSignal };
    this.#watchers.add(entry);
    return () => void this.#watchers.delete(entry);
  }

  /** Handed over at once: whoever sees the change done must not meet a watcher that does not know of it. */
  tell(signal: Signal): void {
    for (const { onSignal } of [...this.#watchers]) {
      try {
        onSignal(signal);
      } catch (error) {
        this.log.warn(`A listener for changes threw: ${String(error)}`);
      }
    }
  }

  clear(): void {
    this.#watchers.clear();
  }
}
