import type { Timers } from './ports.js';

/** What `run` resolves to; a rejection with the signal's reason as soon as it aborts, or with an error after `ms`. */
export async function within<T>(
  timers: Timers,
  ms: number,
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> {
  let end = (): void => undefined;
  const ended = new Promise<never>((_, reject) => {
    const onAbort = (): void => reject(signal?.reason as Error);
    const stop = timers.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    signal?.addEventListener('abort', onAbort, { once: true });
    end = () => {
      stop();
      signal?.removeEventListener('abort', onAbort);
    };
  });
  try {
    return await Promise.race([run(), ended]);
  } finally {
    end();
  }
}
