import type { AbortWatch } from './abort-watch.js';
import type { Cancel, Timers } from './ports.js';

/** What `run` resolves to; a rejection with the signal's reason as soon as it aborts, or with an error after `ms`. */
export async function within<T>(
  timers: Timers,
  ms: number,
  watch: AbortWatch,
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> {
  let end = (): void => undefined;
  const ended = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(signal?.reason as Error);
    const stop = timers.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    const leave: Cancel | undefined = signal && watch.on(signal, onAbort);
    end = () => {
      stop();
      leave?.();
    };
  });
  try {
    return await Promise.race([run(), ended]);
  } finally {
    end();
  }
}
