import type { ResolvedPolicy } from '../policy/index.js';
import type { EntryHeader } from './header.js';

/** Keeps -ln(random) finite: at most 13.8 load times of lead. */
const SMALLEST_RANDOM = 1e-6;

/**
 * Whether a fresh hit should refresh its entry ahead of time. XFetch (Vattani, Chierichetti, Lowenstein: "Optimal
 * Probabilistic Cache Stampede Prevention", VLDB 2015): refresh when `now + cost * beta * -ln(random) >= expiry`, the lead
 * capped at a quarter of the ttl. With a window: linear probability over the last `window` milliseconds.
 * @param random uniform in [0, 1)
 * @param readers how many hits ask at once: as likely as if each of them drew for itself
 */
export function isDueEarly(
  entry: Pick<EntryHeader, 'kind' | 'softAt' | 'cost' | 'ttl'>,
  now: number,
  early: ResolvedPolicy['earlyRefresh'],
  random: () => number,
  readers = 1,
): boolean {
  if (early === undefined || entry.kind !== 'value') return false;
  const left = entry.softAt - now;
  if ('window' in early) return left < early.window && random() ** (1 / readers) >= left / early.window;
  const cap = entry.ttl / 4;
  if (left > cap) return false;
  // The least of several draws.
  const drawn = readers === 1 ? random() : 1 - (1 - random()) ** (1 / readers);
  const lead = entry.cost * early.beta * -Math.log(Math.max(drawn, SMALLEST_RANDOM));
  return Math.min(lead, cap) >= left;
}
