import type { EntryHeader } from './header.js';

/** How long past its soft expiry a reader takes an entry, ms. */
export interface StaleWindows {
  readonly stale: number;
  readonly staleIfError: number;
}

/**
 * - `fresh`: serve it.
 * - `stale`: serve it and refresh.
 * - `failsafe`: only instead of an error or past a soft timeout.
 * - `expired`: as good as absent.
 */
export type Freshness = 'fresh' | 'stale' | 'failsafe' | 'expired';

/** Judges an entry at store time `now` by the reader's windows. Negative entries have none. */
export function freshness(
  entry: Pick<EntryHeader, 'softAt' | 'kind'>,
  now: number,
  windows: StaleWindows,
): Freshness {
  const past = now - entry.softAt;
  if (past < 0) return 'fresh';
  if (entry.kind !== 'value') return 'expired';
  if (past < windows.stale) return 'stale';
  return past < windows.staleIfError ? 'failsafe' : 'expired';
}
