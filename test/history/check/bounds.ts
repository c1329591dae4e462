import { groupBy } from '../group.js';
import type { Call, History, Life, Load } from '../history.js';
import type { Terms } from '../catalogue.js';
import type { Ruling } from './ruling.js';
import { isBlind, sourceOf, type Source } from './values.js';

/** Entries are judged by each process's estimate of the server's clock, which is cut to whole ms; in ms. */
const CLOCK_ERROR = 30;
/** What Redis, the sockets and a busy machine add to a wait that the policy bounds, ms. */
const WAIT_SLACK = 600;

/** Bounds that follow from the policy: how old a value may be, and how long a call may take. */
export function checkBounds(history: History, ruling: Ruling): void {
  const loads = groupBy(history.loads.values(), ({ key }) => key);
  for (const call of history.calls.values()) {
    const terms = history.limits.catalogue[call.key];
    if (!terms) continue;
    checkAge(history, ruling, call, terms, loads.get(call.key) ?? []);
    checkWait(history, ruling, call, terms);
  }
}

/** The latest moment from which its life can have been counted; undefined: it never lay in the store. */
function bornOf(source: Source): number | undefined {
  if (source.kind === 'set') return source.effective;
  const { end, commit } = source.load;
  return commit ? Math.max(commit.begin, end ?? 0) : undefined;
}

function checkAge(history: History, ruling: Ruling, call: Call, terms: Terms, loads: readonly Load[]): void {
  const source = call.value && sourceOf(history, call.value.load);
  const born = source && bornOf(source);
  if (!source || born === undefined) return;
  ruling.count('staleness');
  const age = call.begin - born;
  if (age <= terms.ttl + CLOCK_ERROR) return;
  const old = call.outcome === 'stale';
  if (old && age <= terms.ttl + terms.stale + CLOCK_ERROR) return;
  if (source.kind === 'load' && isBlind(source.load, call, history)) return;
  const longest = terms.ttl + Math.max(terms.stale, terms.staleIfError) + CLOCK_ERROR;
  if (old && age <= longest && hasReason(call, terms, loads, born, history)) return;
  ruling.violate({
    rule: 'staleness',
    message: `${call.id} got ${call.value?.load} as ${call.outcome}, ${Math.round(age)} ms after it was loaded`,
    key: call.key,
    from: source.kind === 'load' ? source.load.begin : source.began,
    to: call.end ?? call.begin,
    about: [call.id, call.value?.load ?? ''],
  });
}

/** Beyond `stale` an old value stands in only for a load that failed, was refused or took longer than `softTimeout`. */
function hasReason(
  call: Call,
  terms: Terms,
  loads: readonly Load[],
  born: number,
  history: History,
): boolean {
  const end = call.end ?? Infinity;
  if (terms.softTimeout !== undefined && end - call.begin >= terms.softTimeout) return true;
  if (end - call.begin >= terms.waitTimeout) return true;
  const failed = loads.some((load) => hasFailed(load) && load.begin < end && (load.end ?? Infinity) > born);
  return (
    failed ||
    history.records.some(
      (r) =>
        r.kind === 'event' && r.event === 'rejected' && r.key === call.key && r.t <= end && r.t >= call.begin,
    )
  );
}

/** An abandoned load may come with a value when nobody wants it any more. */
const hasFailed = ({ ok, signalAt }: Load): boolean => ok !== true || signalAt !== undefined;

function checkWait(history: History, ruling: Ruling, call: Call, terms: Terms): void {
  const life = history.lives.get(call.process);
  ruling.count('waiting');
  if (call.end === undefined) {
    if (life?.killedAt !== undefined) return;
    complain(ruling, call, 'never settled', life?.quietAt ?? call.begin);
    return;
  }
  // The rest of a load that is fenced, the wait for another process, one more load.
  const longest = terms.waitTimeout + 2 * terms.loadTimeout + WAIT_SLACK;
  const took = call.end - call.begin;
  if (took <= longest) return;
  const lost = life ? lostTime(life, call.begin, call.end) : 0;
  if (took - lost <= longest) return ruling.exclude('waiting: the process got no processor');
  complain(
    ruling,
    call,
    `took ${Math.round(took)} ms, at most ${longest} ms follow from its policy`,
    call.end,
  );
}

/** Time in which the process could do nothing: stopped, or kept waiting by the machine. */
function lostTime({ stops, lags }: Life, from: number, to: number): number {
  const within = (span: { readonly from: number; readonly to: number }): number =>
    Math.max(0, Math.min(span.to, to) - Math.max(span.from, from));
  return [...stops, ...lags].reduce((sum, span) => sum + within(span), 0);
}

function complain(ruling: Ruling, call: Call, what: string, to: number): void {
  ruling.violate({
    rule: 'waiting',
    message: `${call.id} ${what}`,
    key: call.key,
    from: call.begin,
    to,
    about: [call.id],
  });
}
