import type { Call, History, Load } from '../history.js';

/** Writes may take effect so much later than their caller gave up, ms: the server's clock is known to some ms only. */
const CLOCK_ERROR = 30;
/** How long a client whose connections were cut may be without one, ms. */
const RECONNECTING = 500;

/** Where a returned value comes from: the load, or the latest moment at which the `set` that brought it took effect. */
export type Source =
  | { readonly kind: 'load'; readonly load: Load }
  | { readonly kind: 'set'; readonly began: number; readonly effective: number };

export function sourceOf(history: History, id: string): Source | undefined {
  const load = history.loads.get(id);
  if (load) return { kind: 'load', load };
  const change = history.changes.get(id);
  if (!change) return undefined;
  const acknowledged = change.end !== undefined && !change.error;
  // Not acknowledged, it may still be under way, up to the moment after which the store must leave it.
  const latest = change.begin + history.limits.redisWriteTimeout + CLOCK_ERROR;
  return { kind: 'set', began: change.begin, effective: acknowledged ? (change.end ?? latest) : latest };
}

/**
 * The stated limit of guarantees 2 and 3: a process that could not reach Redis when it loaded, or did not learn what became
 * of its commit, gives the load's value to those who joined it.
 */
export function isBlind(load: Load, call: Call, history: History): boolean {
  if (load.process !== call.process) return false;
  const over = Math.max(load.end ?? Infinity, load.commit ? (load.commit.end ?? Infinity) : -Infinity);
  if (call.begin > over) return false;
  return load.leased ? commitUnknown(load, history) : load.reason === 'redis_down';
}

function commitUnknown({ commit, process, end = Infinity }: Load, { limits, lives }: History): boolean {
  if (!commit) {
    // What a commit needs to know of tags or versions was asked for, and no answer came.
    const { unheard = [], cuts = [] } = lives.get(process) ?? {};
    // Or it was never sent: there was no connection.
    if (cuts.some((cut) => cut <= end + RECONNECTING && cut >= end - RECONNECTING)) return true;
    return unheard.some(({ from, to }) => to >= end && from <= end + limits.redisWriteTimeout);
  }
  if (commit.end === undefined || commit.error !== undefined) return true;
  return commit.end - commit.begin >= limits.redisWriteTimeout - 1;
}
