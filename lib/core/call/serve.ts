import type { Freshness, StoredEntry } from '../entry/index.js';
import { tell, type Engine, type Refresher } from '../flight/index.js';
import type { Request } from '../request.js';
import { isEarlyDue, isLarge, readEntry, type Answer, type Reading } from './answers.js';

/** Ends a call with what a hit brought. @throws the error, where it is a stored one */
export function serve(engine: Engine, request: Request, hit: Reading): Answer {
  if ('error' in hit) {
    engine.counters.outcomes.negative += 1;
    tell(engine, request, 'hit', { outcome: 'negative', age: 0, staleFor: 0 });
    throw hit.error;
  }
  if (engine.events.active) {
    const { outcome, age, staleFor } = hit.answer;
    tell(engine, request, 'hit', { outcome, age, staleFor });
  }
  return hit.answer;
}

/** A call that found nothing to serve. */
export function countMiss(engine: Engine, request: Request): void {
  engine.counters.misses += 1;
  tell(engine, request, 'miss', {});
}

/**
 * What a reader gets of an entry as it stands now: one that is stale, or will be soon, is refreshed in the background. Undefined:
 * it is past serving, or can't be read under this policy.
 * @param readers how many hits this is
 */
export function readHit(
  engine: Engine,
  refresher: Refresher,
  request: Request,
  entry: StoredEntry,
  state: Freshness,
  now: number,
  readers = 1,
): Reading | undefined {
  if (state !== 'fresh' && state !== 'stale') return undefined;
  const reading = readEntry(engine, entry, request, state, now);
  return reading && refreshed(engine, refresher, request, entry, reading, now, readers);
}

function refreshed(
  engine: Engine,
  refresher: Refresher,
  request: Request,
  entry: StoredEntry,
  reading: Reading,
  now: number,
  readers: number,
): Reading {
  const isStale = 'answer' in reading && reading.answer.outcome === 'stale';
  if (isStale) refresher.trigger(request, entry, 'stale');
  else if (isEarlyDue(engine, entry, request, now, readers) && refresher.trigger(request, entry, 'early'))
    return 'answer' in reading ? { answer: { ...reading.answer, outcome: 'early' } } : reading;
  return reading;
}

/**
 * The answer of a fresh copy in this process, at once: no promise, no call. Undefined: a call has to find out.
 * @throws a stored error
 */
export function serveNear(engine: Engine, refresher: Refresher, request: Request): Answer | undefined {
  const { call, policy } = request;
  if (call.fresh || call.signal !== undefined || policy.mayExist !== undefined) return undefined;
  // Asking the clock is the dearest part of a hit.
  const local = engine.runtime.clock.now();
  const entry = engine.reads.near(request, local);
  if (entry === undefined || isLarge(entry.payload, request) || engine.chain.current()) return undefined;
  const now = engine.gate.store.now(local);
  const reading = readHit(engine, refresher, request, entry, 'fresh', now);
  if (reading === undefined) {
    // Of no use to this caller's policy: the store may have another one by now.
    engine.reads.forget(request.key);
    return undefined;
  }
  return serve(engine, request, reading);
}
