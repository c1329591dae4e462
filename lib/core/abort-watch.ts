import type { Cancel } from './ports.js';

interface Watched {
  readonly waiting: Set<() => void>;
  readonly stop: Cancel;
}

/**
 * Who waits for which signal to abort. One listener on the signal stands for all of them: a request's signal goes along with
 * each of its calls, and Node.js warns of a leak from the eleventh listener on.
 */
export class AbortWatch {
  private readonly signals = new WeakMap<AbortSignal, Watched>();

  /** Runs `fn` once, when the signal aborts. One that has aborted already never does again. */
  on(signal: AbortSignal, fn: () => void): Cancel {
    const { waiting, stop } = this.signals.get(signal) ?? this.listen(signal);
    // A wrapper per call: one function registered twice is two registrations.
    const own = (): void => fn();
    waiting.add(own);
    return () => {
      if (waiting.delete(own) && waiting.size === 0) stop();
    };
  }

  private listen(signal: AbortSignal): Watched {
    const waiting = new Set<() => void>();
    const onAbort = (): void => {
      stop();
      for (const own of waiting) own();
    };
    const stop = (): void => {
      this.signals.delete(signal);
      signal.removeEventListener('abort', onAbort);
    };
    const watched = { waiting, stop };
    this.signals.set(signal, watched);
    signal.addEventListener('abort', onAbort);
    return watched;
  }
}
