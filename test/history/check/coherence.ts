import type { Call, Change, History } from '../history.js';
import { barriersOf, isOfKey, isOfTag, type Barrier, type Lookup } from './barriers.js';
import type { Ruling } from './ruling.js';
import { isBlind, sourceOf, type Source } from './values.js';

/** Soft expiry is judged by each process's estimate of the server's clock, ms. */
const CLOCK_ERROR = 30;

/** Outcomes in which a load under way was shared. */
const SHARED: ReadonlySet<string> = new Set(['joined', 'waited']);
/** Outcomes in which an old value is given as an old value. */
const KNOWINGLY_OLD: ReadonlySet<string> = new Set(['stale', 'fallback']);

/**
 * Guarantee 3: a call begun after a change had resolved never returns a value whose load began before the change. And:
 * after `expire` such a value is returned as a stale one only; a call that wants a fresh load gets one.
 */
export function checkCoherence(history: History, ruling: Ruling): void {
  const { maxLag, keyLag } = history.limits;
  const all = barriersOf(history, (change) => dropping(change, maxLag, keyLag));
  const here = new Map([...history.lives.keys()].map((process) => [process, ownBarriers(history, process)]));
  const expired = barriersOf(history, (change) => softening(change, maxLag, keyLag));
  for (const call of history.calls.values()) {
    if (!call.value) continue;
    const source = sourceOf(history, call.value.load);
    if (!source) {
      report(ruling, call, 'a value nobody loaded or set', 'origin', undefined, 0);
      continue;
    }
    ruling.count('3');
    const own = here.get(call.process)?.(call.key, call.begin);
    if (own && isBefore(source, own))
      report(ruling, call, 'older than a change made here', '3', own, startOf(source));
    else checkForeign(history, ruling, call, source, all);
    checkExpired(history, ruling, call, source, expired);
    checkFresh(ruling, call, source);
  }
}

function dropping(change: Change, maxLag: number, keyLag: number): { grace: number } | undefined {
  if (isOfKey(change)) return { grace: keyLag };
  return isOfTag(change) || change.kind === 'clear' ? { grace: maxLag } : undefined;
}

/** In the process that made them, changes of a key and a clear hold at once, and no ignorance excuses anything. */
function ownBarriers(history: History, process: string): Lookup {
  return barriersOf(history, (change) =>
    change.process === process && (isOfKey(change) || change.kind === 'clear') ? { grace: 0 } : undefined,
  );
}

function softening(change: Change, maxLag: number, keyLag: number): { grace: number } | undefined {
  if (change.kind === 'expire') return { grace: keyLag + CLOCK_ERROR };
  return change.kind === 'expireTags' ? { grace: maxLag + CLOCK_ERROR } : undefined;
}

function checkForeign(history: History, ruling: Ruling, call: Call, source: Source, all: Lookup): void {
  const barrier = all(call.key, call.begin);
  if (!barrier || !isBefore(source, barrier)) return;
  if (source.kind === 'load' && isBlind(source.load, call, history)) {
    ruling.exclude('3: joined a load of a process that did not reach Redis or learn of its commit');
    return;
  }
  report(ruling, call, 'older than a change that had resolved', '3', barrier, startOf(source));
}

function checkExpired(history: History, ruling: Ruling, call: Call, source: Source, expired: Lookup): void {
  const barrier = expired(call.key, call.begin);
  if (!barrier || !isBefore(source, barrier) || KNOWINGLY_OLD.has(call.outcome ?? '')) return;
  if (barrier.change.kind === 'expireTags' && SHARED.has(call.outcome ?? ''))
    return ruling.exclude('expire: shared a load during which a tag of its value expired softly');
  if (source.kind === 'load' && isBlind(source.load, call, history)) {
    ruling.exclude('expire: joined a load of a process that did not reach Redis or learn of its commit');
    return;
  }
  report(ruling, call, `softly expired, but returned as ${call.outcome}`, 'expire', barrier, startOf(source));
}

function checkFresh(ruling: Ruling, call: Call, source: Source): void {
  if (call.kind !== 'fresh' || source.kind !== 'load') return;
  ruling.count('fresh');
  if (source.load.begin < call.begin)
    report(
      ruling,
      call,
      'asked for a fresh load, got one begun before',
      'fresh',
      undefined,
      source.load.begin,
    );
}

const startOf = (source: Source): number => (source.kind === 'load' ? source.load.begin : source.began);

/** A set that overlaps the change may have come after it: only one that had ended counts as older. */
function isBefore(source: Source, barrier: Barrier): boolean {
  return (source.kind === 'load' ? source.load.begin : source.effective) < barrier.from;
}

function report(
  ruling: Ruling,
  call: Call,
  what: string,
  rule: string,
  barrier: Barrier | undefined,
  since: number,
): void {
  const change = barrier?.change;
  const by = change ? ` (${change.kind} by ${change.process}, version ${change.version})` : '';
  ruling.violate({
    rule,
    message: `${call.id} got version ${call.value?.version} of ${call.value?.load}: ${what}${by}`,
    key: call.key,
    from: since || call.begin,
    to: call.end ?? call.begin,
    about: [call.id, call.value?.load ?? '', ...(change ? [change.id] : [])],
  });
}
