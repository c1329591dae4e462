import { groupBy } from '../group.js';
import type { Call, History, Load } from '../history.js';
import type { Ruling } from './ruling.js';

/** Errors of the origin that are the caller's own business, and of the module where it says no by its own limits. */
const OF_THE_LOAD: ReadonlySet<string> = new Set(['OriginError', 'RemoteLoadError', 'LoadTimeoutError']);
const OF_LIMITS: ReadonlySet<string> = new Set([
  'WaitTimeoutError',
  'LoadRejectedError',
  'ReentrantLoadError',
]);
const TIMER_ERROR = 2;
/** How long an outcome is kept for those who waited, and how long a machine that is busy may take to hand it over, ms. */
const OUTCOME_LIFE = 2_500;

/** Guarantees 5 and 6: one caller's abort never fails another; no failure of the cache fails a call whose load succeeded. */
export function checkCallers(history: History, ruling: Ruling): void {
  const led = groupBy(history.loads.values(), ({ call }) => call);
  const byKey = groupBy(history.loads.values(), ({ key }) => key);
  for (const call of history.calls.values()) {
    if (call.abortedAt !== undefined) ruling.count('5');
    if (!call.error) continue;
    if (call.error.name === 'AbortError') checkAbort(ruling, call);
    else checkError(history, ruling, call, led.get(call.id) ?? [], byKey.get(call.key) ?? []);
  }
}

function checkAbort(ruling: Ruling, call: Call): void {
  if (call.abortedAt !== undefined && call.abortedAt <= (call.end ?? 0)) return;
  report(ruling, '5', call, 'was aborted, though its own caller did not abort it');
}

function checkError(
  history: History,
  ruling: Ruling,
  call: Call,
  led: readonly Load[],
  ofKey: readonly Load[],
): void {
  ruling.count('6');
  const name = call.error?.name ?? '';
  if (!OF_THE_LOAD.has(name) && !OF_LIMITS.has(name)) {
    report(ruling, '6', call, `failed with ${name}: ${call.error?.message}`);
    return;
  }
  const good = led.find(
    (load) => load.ok === true && load.signalAt === undefined && (load.end ?? Infinity) <= (call.end ?? 0),
  );
  if (good) report(ruling, '6', call, `failed with ${name}, though its load ${good.id} succeeded`, good);
  else if (OF_THE_LOAD.has(name) && !ofKey.some((load) => explains(load, call, history)))
    report(ruling, '6', call, `failed with ${name}, but no load of the key failed at that time`);
}

/** A load that failed or was abandoned, and whose outcome may have reached this call. */
function explains(load: Load, call: Call, { limits, lives }: History): boolean {
  const { loadTimeout = 0 } = limits.catalogue[load.key] ?? {};
  const dead = lives.get(load.process)?.killedAt;
  const abandoned = load.signalAt ?? load.begin + loadTimeout - TIMER_ERROR;
  const failedAt = load.ok === false ? (load.end ?? Infinity) : abandoned;
  if (load.ok === true && (load.end ?? Infinity) < abandoned) return false;
  if (dead !== undefined && dead < failedAt) return false;
  const here = load.process === call.process;
  return load.begin <= (call.end ?? 0) && failedAt >= call.begin - (here ? OUTCOME_LIFE / 10 : OUTCOME_LIFE);
}

function report(ruling: Ruling, rule: string, call: Call, what: string, load?: Load): void {
  ruling.violate({
    rule,
    message: `${call.id} ${what}`,
    key: call.key,
    from: Math.min(call.begin, load?.begin ?? Infinity),
    to: call.end ?? call.begin,
    about: [call.id, ...(load ? [load.id] : [])],
  });
}
