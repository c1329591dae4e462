import { groupBy } from '../group.js';
import { slotOf, type History, type Load, type StoreOp } from '../history.js';
import type { Ruling } from './ruling.js';

const CHANGES: ReadonlySet<string> = new Set(['invalidate', 'put', 'expire', 'evict']);
const ENDS: ReadonlySet<string> = new Set(['commit', 'touch', 'release']);
/** A change that got no answer may still be executed so much later, ms. */
const MAY_COME_LATE = 5_000;
/** Timers of the cache and of this program may differ by so much, ms. */
const TIMER_ERROR = 2;

/**
 * Guarantee 1: while Redis keeps the lease, one leased load per key in the fleet. Judged twice: by what Redis granted (no
 * lease is given away that surely stands), and by the loads themselves (two at once need a stated reason).
 */
export function checkSingleLoad(history: History, ruling: Ruling): void {
  const ops = groupBy(history.storeOps.values(), slotOf);
  const loads = groupBy(history.loads.values(), slotOf);
  for (const those of ops.values()) checkGrants(history, ruling, those);
  for (const [slot, those] of loads) {
    checkOverlaps(history, ruling, those, ops.get(slot) ?? []);
    checkBlindLoads(history, ruling, those);
  }
}

function isGrant(op: StoreOp): boolean {
  return op.op === 'acquire' && op.reply === 'owner' && !op.probe;
}

/** Redis surely knew the lease from `begin + lease` backwards to its end. */
function isExtension(op: StoreOp): boolean {
  return isGrant(op) || (op.op === 'renew' && op.reply === 'held');
}

/** A change that may have taken the lease between the two moments. */
function mayHaveChanged(op: StoreOp, from: number, to: number): boolean {
  if (!CHANGES.has(op.op) || op.begin >= to) return false;
  const latest = op.end === undefined || op.error !== undefined ? op.begin + MAY_COME_LATE : op.end;
  return latest >= from;
}

function checkGrants(history: History, ruling: Ruling, ops: readonly StoreOp[]): void {
  const key = ops[0]?.key ?? '';
  const lease = history.limits.catalogue[key]?.lease ?? 0;
  const extensions = ops.filter(isExtension);
  for (const grant of ops.filter(isGrant)) {
    const granted = grant.end ?? Infinity;
    ruling.count('1');
    const standing = extensions.find(
      (op) =>
        op.token !== grant.token &&
        (op.end ?? Infinity) <= grant.begin &&
        op.begin + lease > granted &&
        !ops.some((other) => other.token === op.token && ENDS.has(other.op) && other.begin < granted) &&
        !ops.some((other) => mayHaveChanged(other, op.begin, granted)),
    );
    if (!standing) continue;
    ruling.violate({
      rule: '1',
      message: `${grant.process} was granted the lease that ${standing.process} still held (${standing.op} ${standing.id})`,
      key,
      from: standing.begin,
      to: granted,
      about: [grant.id, standing.id],
    });
  }
}

/** Until when a load counts as running. */
export function endOf(load: Load, history: History): number {
  const { killedAt = Infinity } = history.lives.get(load.process) ?? {};
  return Math.min(load.end ?? Infinity, load.signalAt ?? Infinity, killedAt);
}

function checkOverlaps(
  history: History,
  ruling: Ruling,
  loads: readonly Load[],
  ops: readonly StoreOp[],
): void {
  const leased = loads.filter((load) => load.leased).sort((a, b) => a.begin - b.begin);
  for (const [index, later] of leased.entries()) {
    for (const earlier of leased.slice(Math.max(0, index - 20), index)) {
      if (endOf(earlier, history) <= later.begin) continue;
      const reason = whyTwo(earlier, later, history, ops);
      if (reason !== undefined) {
        ruling.exclude(`1: ${reason}`);
        continue;
      }
      ruling.violate({
        rule: '1',
        message: `${later.id} began under a lease while ${earlier.id} ran under one`,
        key: later.key,
        from: earlier.begin,
        to: later.begin,
        about: [earlier.id, later.id],
      });
    }
  }
}

/** The acquires that may have given this load its lease, the likeliest last. What it wrote names it for certain. */
function grantsOf(load: Load, ops: readonly StoreOp[]): readonly StoreOp[] {
  const grants = ops.filter((op) => isGrant(op) && op.process === load.process);
  const named = grants.filter((op) => op.token === load.commit?.token);
  return named.length > 0 ? named : grants.filter((op) => (op.end ?? Infinity) <= load.begin);
}

/** A grant for each of two loads: never the same one. A process may begin what it was granted first last. */
function grantsOfBoth(
  earlier: Load,
  later: Load,
  ops: readonly StoreOp[],
): readonly [StoreOp | undefined, StoreOp | undefined] {
  const [ofEarlier, ofLater] = [grantsOf(earlier, ops), grantsOf(later, ops)];
  const [first, second] = [ofEarlier.at(-1), ofLater.at(-1)];
  if (first !== second) return [first, second];
  return [first, ofLater.at(-2) ?? ofEarlier.at(-2) ?? second];
}

/** The stated reason for two leased loads at once. */
function whyTwo(earlier: Load, later: Load, history: History, ops: readonly StoreOp[]): string | undefined {
  const { lease, loadTimeout } = history.limits.catalogue[later.key] ?? { lease: 0, loadTimeout: 0 };
  const [first, second] = grantsOfBoth(earlier, later, ops);
  if (!first || !second) return undefined;
  // Replies come late: the load that began first may have been granted its lease last.
  if (ops.some((op) => mayHaveChanged(op, Math.min(first.begin, second.begin), later.begin)))
    return 'a change took the lease of the first load';
  if (later.begin >= earlier.begin + loadTimeout - TIMER_ERROR)
    return 'the first load was past its loadTimeout';
  const silent =
    !wasHeard(earlier.process, second, lease, ops) ||
    (second.begin < first.begin && !wasHeard(later.process, first, lease, ops));
  return silent ? 'the first holder was silent for longer than its lease' : undefined;
}

/** Whether the process had shown itself as a holder within a lease's length before this grant. */
function wasHeard(process: string, grant: StoreOp, lease: number, ops: readonly StoreOp[]): boolean {
  return ops.some(
    (op) =>
      isExtension(op) &&
      op.process === process &&
      op.token !== grant.token &&
      op.begin > (grant.end ?? 0) - lease &&
      (op.end ?? Infinity) <= grant.begin,
  );
}

/** Without Redis: one load per key and process at a time. */
function checkBlindLoads(history: History, ruling: Ruling, loads: readonly Load[]): void {
  const blind = loads.filter(({ leased, reason }) => !leased && reason === 'redis_down');
  for (const [index, later] of blind.entries()) {
    const call = history.calls.get(later.call);
    for (const earlier of blind.slice(Math.max(0, index - 20), index)) {
      if (earlier.process !== later.process || endOf(earlier, history) <= later.begin) continue;
      if (call?.kind === 'fresh' || history.calls.get(earlier.call)?.kind === 'fresh') continue;
      if (changedHere(history, earlier, later)) {
        ruling.exclude('1: without Redis, a change made here in between');
        continue;
      }
      ruling.violate({
        rule: '1',
        message: `${later.id} began while ${earlier.id} ran in the same process, both without Redis`,
        key: later.key,
        from: Math.min(...[earlier, later].map((one) => history.calls.get(one.call)?.begin ?? one.begin)),
        to: later.begin,
        about: [earlier.id, later.id, earlier.call, later.call],
      });
    }
  }
}

function changedHere(history: History, earlier: Load, later: Load): boolean {
  for (const { process, begin, end = Infinity } of history.changes.values())
    if (process === later.process && begin < later.begin && end > earlier.begin) return true;
  return false;
}
