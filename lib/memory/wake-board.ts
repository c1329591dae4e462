import type { Cancel, Runtime } from '../core/ports.js';
import type { Wake } from '../core/store.js';

type Listener = (wake: Wake) => void;

/** Who waits for which key, and the wake-ups on their way to them. */
export class WakeBoard {
  /** Each registration is an object of its own, so that one function may listen twice. */
  readonly #listeners = new Map<string, Set<{ readonly onWake: Listener }>>();
  #queue: { readonly id: string; readonly wake: Wake }[] = [];

  constructor(private readonly runtime: Runtime) {}

  listen(id: string, onWake: Listener): Cancel {
    const entry = { onWake };
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(entry));
    return () => {
      // The set may have been replaced since by one of a later listener: then it is not ours to remove.
      if (listeners.delete(entry) && listeners.size === 0 && this.#listeners.get(id) === listeners) {
        this.#listeners.delete(id);
      }
    };
  }

  /** Delivered later, never inside the stack of whoever ended the load. */
  wake(id: string, wake: Wake): void {
    if (!this.#listeners.has(id)) return;
    this.#queue.push({ id, wake });
    if (this.#queue.length === 1) this.runtime.timers.endOfTick(() => this.#deliver());
  }

  clear(): void {
    this.#listeners.clear();
    this.#queue = [];
  }

  #deliver(): void {
    const due = this.#queue;
    this.#queue = [];
    for (const { id, wake } of due) {
      const listeners = this.#listeners.get(id) ?? new Set();
      // A copy: whoever is woken may listen again at once, and that is for the next wake-up.
      const woken = [...listeners];
      for (const listener of woken) if (listeners.has(listener)) this.#call(listener.onWake, wake);
    }
  }

  #call(onWake: Listener, wake: Wake): void {
    try {
      onWake(wake);
    } catch (error) {
      // One waiter's fault must not keep the others asleep.
      this.runtime.log.warn(`A listener for wake-ups threw: ${String(error)}`);
    }
  }
}
