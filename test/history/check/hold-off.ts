import type { History, StoreOp } from '../history.js';
import { groupBy } from '../group.js';
import type { Ruling } from './ruling.js';

/** The server's clock counts whole ms. */
const CLOCK_ERROR = 2;

/** After an invalidation of a key with `holdOff`, no load stores anything for so long. */
export function checkHoldOff(history: History, ruling: Ruling): void {
  const stored = [...history.storeOps.values()].filter(
    ({ op, reply }) => op === 'commit' && reply === 'stored',
  );
  const commits = groupBy(stored, ({ key }) => key);
  for (const change of history.changes.values()) {
    if (change.holdOff === 0 || change.kind !== 'invalidate' || change.end === undefined || change.error)
      continue;
    const until = change.begin + change.holdOff - CLOCK_ERROR;
    for (const key of change.keys) {
      ruling.count('holdOff');
      const { end } = change;
      const early = (commits.get(key) ?? []).find(
        (commit: StoreOp) => commit.begin > end && (commit.end ?? Infinity) < until,
      );
      if (!early) continue;
      ruling.violate({
        rule: 'holdOff',
        message: `the commit ${early.id} of ${early.load} was stored within the hold-off of ${change.id} (${change.holdOff} ms)`,
        key,
        from: change.begin,
        to: early.end ?? until,
        about: [change.id, early.id, early.load ?? ''],
      });
    }
  }
}
