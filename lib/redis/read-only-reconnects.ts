/** Pauses between reconnects while a server stays a replica, ms: at first, and once it has been one for long. */
const PAUSES = [1_000, 2_000, 4_000];
const LONG_PAUSE = 30_000;
/** A demoted server is one for long after this, and what came before is forgotten after as much of peace, ms. */
const LONG = 60_000;

/**
 * ioredis's `reconnectOnError` for a client made here: after READONLY another server may be the primary under the same name.
 * Each reconnect drops what is in flight, and the same replica may be found again; so they become rare.
 */
export function readOnlyReconnects(now: () => number = () => performance.now()): (error: Error) => boolean {
  let since = -Infinity;
  let last = -Infinity;
  let count = 0;
  return ({ message }) => {
    if (!message.includes('READONLY')) return false;
    const at = now();
    if (at - last > LONG) {
      since = at;
      count = 0;
    }
    const pause = at - since > LONG ? LONG_PAUSE : (PAUSES[Math.min(count, PAUSES.length) - 1] ?? 0);
    if (at - last < pause) return false;
    last = at;
    count += 1;
    return true;
  };
}
