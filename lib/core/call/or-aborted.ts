import type { AbortWatch } from '../abort-watch.js';

/** What `running` comes to; rejects with the signal's reason as soon as that aborts, and leaves it running. */
export async function orAborted<T>(watch: AbortWatch, signal: AbortSignal, running: Promise<T>): Promise<T> {
  let leave = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    leave = watch.on(signal, () => reject(signal.reason as Error)); // whatever its owner gave
  });
  try {
    return await Promise.race([running, aborted]);
  } finally {
    leave();
  }
}
