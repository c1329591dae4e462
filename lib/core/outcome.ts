/**
 * How a call was answered. `fresh`, `negative`: from the cache. `stale`: an older value, allowed by the policy. `early`:
 * fresh, and this hit refreshed it ahead of time. `loaded`: this call led the load. `joined`: another call of this process
 * did. `waited`: another process did. `bypassed`: straight from the origin. `fallback`: the policy's degraded answer.
 */
export type Outcome =
  'fresh' | 'stale' | 'early' | 'negative' | 'loaded' | 'joined' | 'waited' | 'bypassed' | 'fallback';

/** A value with how it came. */
export interface Entry<T> {
  readonly value: T;
  readonly outcome: Outcome;
  /** Since the end of its load, ms. */
  readonly age: number;
  /** Past its soft expiry, ms; 0 while fresh. */
  readonly staleFor: number;
}
