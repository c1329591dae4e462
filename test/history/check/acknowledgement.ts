import { groupBy } from '../group.js';
import type { Change, History, StoreOp } from '../history.js';
import { barriersOf, isOfKey, isOfTag, type Barrier } from './barriers.js';
import type { Ruling } from './ruling.js';
import { isBlind, sourceOf } from './values.js';

const HARD: ReadonlySet<string> = new Set(['invalidate', 'put']);
const SOFT: ReadonlySet<string> = new Set(['expire']);

/**
 * Guarantee 4: no change is reported as done that Redis did not acknowledge; and a process that was told that its change
 * failed does not believe older values any more.
 */
export function checkAcknowledgement(history: History, ruling: Ruling): void {
  const ops = groupBy(history.storeOps.values(), ({ process, key }) => `${process} ${key}`);
  for (const change of history.changes.values())
    for (const key of change.keys)
      checkReport(ruling, change, key, ops.get(`${change.process} ${key}`) ?? []);
  for (const process of history.lives.keys()) checkDistrust(history, ruling, process);
}

function checkReport(ruling: Ruling, change: Change, key: string, ops: readonly StoreOp[]): void {
  const { begin, end, error } = change;
  if (end === undefined || error) return;
  ruling.count('4');
  const wanted = change.kind === 'expire' ? SOFT : HARD;
  const acknowledged = ops.some(
    (op) => wanted.has(op.op) && op.begin >= begin && (op.end ?? Infinity) <= end && op.error === undefined,
  );
  if (acknowledged) return;
  ruling.violate({
    rule: '4',
    message: `${change.id} (${change.kind}) resolved, but Redis acknowledged nothing of the kind`,
    key,
    from: begin,
    to: end,
    about: [change.id],
  });
}

function checkDistrust(history: History, ruling: Ruling, process: string): void {
  const distrusted = barriersOf(
    history,
    (change) => (change.process === process ? graceOf(change, history) : undefined),
    (change) => change.error !== undefined,
  );
  for (const call of history.calls.values()) {
    if (call.process !== process || !call.value) continue;
    const barrier = distrusted(call.key, call.begin);
    if (!barrier) continue;
    ruling.count('4, after a failed change');
    const source = sourceOf(history, call.value.load);
    if (source?.kind !== 'load' || source.load.begin >= barrier.from) continue;
    if (isOfTag(barrier.change) && isBlind(source.load, call, history))
      ruling.exclude('4: joined a load that did not learn of its commit after a failed change by tag');
    else complain(ruling, call.id, source.load.id, call.key, barrier, call.end ?? call.begin);
  }
}

/** A tag is heeded after maxLag only, also here. */
function graceOf(change: Change, { limits }: History): { grace: number } | undefined {
  if (isOfKey(change) || change.kind === 'clear') return { grace: 0 };
  return isOfTag(change) ? { grace: limits.maxLag } : undefined;
}

function complain(
  ruling: Ruling,
  call: string,
  load: string,
  key: string,
  { change, from }: Barrier,
  to: number,
): void {
  ruling.violate({
    rule: '4',
    message: `${call} got the value of ${load}, which is older than ${change.kind} (${change.id}) that had failed in this process`,
    key,
    from,
    to,
    about: [call, load, change.id],
  });
}
