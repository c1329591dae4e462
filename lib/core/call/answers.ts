import type { Payload, StoredEntry } from '../entry/index.js';
import { freshness, isDueEarly, type Freshness, type StaleWindows } from '../entry/index.js';
import { restoreError, type Engine, type Landing } from '../flight/index.js';
import { placeOf } from '../keys/index.js';
import type { Entry, Outcome } from '../outcome.js';
import type { Request } from '../request.js';

/** What the engine tells of a call beside what its caller asked for. */
export interface Answer extends Entry<unknown> {
  /** For how long the entry is still fresh, ms; 0: it is not, or nothing was stored. */
  readonly freshFor: number;
}

/** Of what is in no store: nothing of it stays. */
export const UNSTORED = { age: 0, staleFor: 0, freshFor: 0 } as const;

/** What `mayExist` has ruled out. */
export const NOT_FOUND: Answer = { value: null, outcome: 'negative', ...UNSTORED };

/** The reader's own stale windows. A call that wants a fresh value has none. */
export function windowsOf({ policy, call }: Request): StaleWindows {
  if (call.fresh) return { stale: 0, staleIfError: 0 };
  return {
    stale: Math.min(policy.stale, call.maxStale),
    staleIfError: Math.min(policy.staleIfError, call.maxStale),
  };
}

/** What an entry is to this reader now. */
export function judge(
  engine: Engine,
  entry: StoredEntry,
  request: Request,
  now = engine.gate.store.now(),
): Freshness {
  return freshness(entry.header, now, windowsOf(request));
}

export function isEarlyDue(
  engine: Engine,
  entry: StoredEntry,
  request: Request,
  now: number,
  readers: number,
): boolean {
  const { earlyRefresh } = request.policy;
  return isDueEarly(entry.header, now, earlyRefresh, () => engine.runtime.random.next(), readers);
}

/** What takes longer to read than the event loop should stand still for each of its readers, bytes. */
const LARGE = 64 * 1_024;

/** Whether each reader's copy is made in a turn of its own. */
export function isLarge({ size }: Payload, { policy }: Request): boolean {
  return size >= LARGE && !policy.shared;
}

/**
 * The turn to wait for before a value is read, `waitTimeout` after `since` at most; rejects when the caller's signal aborts.
 * Undefined: read it now.
 * @param since monotonic time, ms
 */
export function turnToRead(
  engine: Engine,
  payload: Payload,
  request: Request,
  since?: number,
): Promise<void> | undefined {
  if (!isLarge(payload, request)) return undefined;
  const now = engine.runtime.clock.now();
  const left = request.policy.waitTimeout - (now - (since ?? now));
  return engine.turns.wait(placeOf(request.key), payload, left, request.call.signal);
}

/** How reading an entry ended: an answer, a stored error to be thrown, or undefined for bytes that can't be read. */
export type Reading = { readonly answer: Answer } | { readonly error: Error };

/**
 * The value a flight brought, as this caller's own copy.
 * @throws whatever reading it does: it may be written for another `serializer` or `type` than this caller's
 */
export function readLanding(
  engine: Engine,
  landing: Extract<Landing, { kind: 'value' }>,
  request: Request,
  leads: boolean,
): Answer {
  const now = engine.gate.store.now();
  return {
    value: landing.payload.read(request.policy),
    outcome: outcomeOf(landing, leads),
    age: Math.max(0, now - landing.bornAt),
    staleFor: 0,
    freshFor: Math.max(0, landing.softAt - now),
  };
}

export function outcomeOf({ how }: Extract<Landing, { kind: 'value' }>, leads: boolean): Outcome {
  if (how === 'waited') return 'waited';
  return leads ? 'loaded' : 'joined';
}

/** The entry's value, as this reader's own copy. */
export function readEntry(
  engine: Engine,
  entry: StoredEntry,
  request: Request,
  outcome: Outcome,
  now = engine.gate.store.now(),
): Reading | undefined {
  const { header, payload } = entry;
  if (header.kind === 'error') {
    const error = restoreError(engine, entry, request);
    return error && { error };
  }
  try {
    const value = payload.read(request.policy);
    const named = header.kind === 'negative' ? 'negative' : outcome;
    return {
      answer: {
        value,
        outcome: named,
        age: Math.max(0, now - header.bornAt),
        staleFor: Math.max(0, now - header.softAt),
        freshFor: Math.max(0, header.softAt - now),
      },
    };
  } catch {
    return undefined;
  }
}
