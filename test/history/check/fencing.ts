import { groupBy } from '../group.js';
import { slotOf, type Call, type History, type Load, type StoreOp } from '../history.js';
import type { Ruling } from './ruling.js';
import { isBlind, sourceOf } from './values.js';

const WRITTEN: ReadonlySet<string | undefined> = new Set(['stored', 'already']);
const CHANGES: ReadonlySet<string> = new Set(['invalidate', 'put', 'expire', 'evict']);

/** Guarantee 2: a load that lost its lease never writes, and its value reaches only those who came before it began. */
export function checkFencing(history: History, ruling: Ruling): void {
  for (const call of history.calls.values()) checkReader(history, ruling, call);
  for (const ops of groupBy(history.storeOps.values(), slotOf).values()) checkWrites(history, ruling, ops);
}

function checkReader(history: History, ruling: Ruling, call: Call): void {
  const source = call.value && sourceOf(history, call.value.load);
  if (source?.kind !== 'load') return;
  const { load } = source;
  const revoked = whyRevoked(load);
  if (revoked === undefined) return;
  ruling.count('2');
  if (call.begin <= load.begin) return;
  if (isBlind(load, call, history))
    return ruling.exclude('2: joined a load that did not learn of its commit');
  if (wasResent(history, load)) return ruling.exclude('2: a commit sent twice over a cut connection');
  ruling.violate({
    rule: '2',
    message: `${call.id} began after ${load.id} and got its value, which was never stored (${revoked})`,
    key: call.key,
    from: load.begin,
    to: call.end ?? call.begin,
    about: [call.id, load.id, load.commit?.id ?? ''],
  });
}

/** Why nobody may have this load's value from the cache; undefined: it may have been stored. */
function whyRevoked(load: Load): string | undefined {
  if (!load.leased && load.reason !== 'redis_down') return 'it ran without a lease';
  if (load.commit?.reply === 'fenced') return 'its commit was fenced';
  return undefined;
}

/** The first run may have stored it, and what was stored been dropped since. */
function wasResent(history: History, { process, commit }: Load): boolean {
  const cuts = history.lives.get(process)?.cuts ?? [];
  return commit !== undefined && cuts.some((cut) => cut >= commit.begin && cut <= (commit.end ?? Infinity));
}

function checkWrites(history: History, ruling: Ruling, ops: readonly StoreOp[]): void {
  const grants = ops.filter((op) => op.op === 'acquire' && op.reply === 'owner' && !op.probe);
  const takers = [
    ...ops.filter(({ op, error, end }) => CHANGES.has(op) && !error && end !== undefined),
    ...grants,
  ];
  for (const commit of ops) {
    if (commit.op !== 'commit' || !WRITTEN.has(commit.reply)) continue;
    ruling.count('2');
    const grant = grants.find(({ token, process }) => token === commit.token && process === commit.process);
    const load = commit.load === undefined ? undefined : history.loads.get(commit.load);
    if (!grant || !load?.leased || (grant.end ?? Infinity) > load.begin) {
      complain(ruling, commit, 'stored, though no lease had been granted before its load began', grant);
      continue;
    }
    const taker = takers.find(
      (op) => op.token !== commit.token && liesWithin(op, grant.end ?? 0, commit.begin),
    );
    if (taker)
      complain(ruling, commit, `stored, though ${taker.op} (${taker.process}) had taken its lease`, taker);
  }
}

function liesWithin(op: StoreOp, from: number, to: number): boolean {
  return op.begin > from && (op.end ?? Infinity) < to && op.reply !== 'late';
}

function complain(ruling: Ruling, commit: StoreOp, what: string, other: StoreOp | undefined): void {
  ruling.violate({
    rule: '2',
    message: `the commit ${commit.id} of ${commit.load} was ${what}`,
    key: commit.key,
    from: Math.min(commit.begin, other?.begin ?? Infinity),
    to: commit.end ?? commit.begin,
    about: [commit.id, commit.load ?? '', other?.id ?? ''],
  });
}
