import { tagsOf } from '../catalogue.js';
import type { Change, History } from '../history.js';

/** From `at` on, nothing whose load began before `from` may be returned. */
export interface Barrier {
  readonly from: number;
  readonly at: number;
  readonly change: Change;
}

/** Barriers of one key; answers which of those in force at a moment reaches furthest. */
class BarrierLine {
  private readonly sorted: readonly Barrier[];
  /** The one with the greatest `from` among the first so many. */
  private readonly furthest: Barrier[] = [];

  constructor(barriers: readonly Barrier[]) {
    this.sorted = [...barriers].sort((a, b) => a.at - b.at);
    for (const barrier of this.sorted) {
      const last = this.furthest.at(-1);
      this.furthest.push(last && last.from > barrier.from ? last : barrier);
    }
  }

  inForce(moment: number): Barrier | undefined {
    let low = 0;
    let high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.sorted[middle]?.at ?? Infinity) < moment) low = middle + 1;
      else high = middle;
    }
    return this.furthest[low - 1];
  }
}

export type Lookup = (key: string, moment: number) => Barrier | undefined;

/**
 * Where each barrier begins to hold: a change of the key when it has resolved, one by tag or a clear `maxLag` later.
 * `select` says what else is to be waited for; `isMeant` which outcomes count. Default: the acknowledged ones.
 */
export function barriersOf(
  history: History,
  select: (change: Change) => { readonly grace: number } | undefined,
  isMeant: (change: Change) => boolean = ({ error }) => error === undefined,
): Lookup {
  const byKey = new Map<string, Barrier[]>();
  for (const change of history.changes.values()) {
    const selected = select(change);
    if (!selected || change.end === undefined || !isMeant(change)) continue;
    for (const key of keysOf(change, history)) {
      const line = byKey.get(key) ?? [];
      byKey.set(key, line);
      line.push({ from: change.begin, at: change.end + selected.grace, change });
    }
  }
  const lines = new Map([...byKey].map(([key, barriers]) => [key, new BarrierLine(barriers)]));
  return (key, moment) => lines.get(key)?.inForce(moment);
}

/** The keys that a change is about. */
export function keysOf(change: Change, { limits }: History): readonly string[] {
  if (change.kind === 'clear') return Object.keys(limits.catalogue);
  if (change.tags.length === 0) return change.keys;
  return Object.entries(limits.catalogue)
    .filter(([, terms]) => tagsOf(terms).some((tag) => change.tags.includes(tag)))
    .map(([key]) => key);
}

export const isOfKey = ({ kind }: Change): boolean => kind === 'invalidate' || kind === 'set';
export const isOfTag = ({ kind }: Change): boolean => kind === 'invalidateTags';
