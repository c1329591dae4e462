import { quantile } from '../../integration/fleet/tally.js';
import type { Chronicle, Report } from '../records.js';
import { wrongValues, type WrongValue } from './wrong-values.js';

/** What a chaos run came to. Times in ms. */
export interface Figures {
  readonly illnesses: number;
  readonly kinds: number;
  readonly calls: number;
  readonly hits: number;
  readonly loads: number;
  readonly unleasedLoads: number;
  readonly shed: number;
  readonly changes: number;
  readonly failedChanges: number;
  /** Values that were held against a change of their key. */
  readonly judged: number;
  readonly excusedLostWrite: number;
  readonly excusedJoined: number;
  readonly wrongValues: number;
  readonly unhandled: number;
  readonly hangingCalls: number;
  /** Other than the documented ones. */
  readonly otherErrors: number;
  /** Of one process. */
  readonly peakLoads: number;
  readonly slowestRecovery: number;
  /** By how many processes and illnesses. */
  readonly missedRecoveries: number;
  readonly callP99: number;
  readonly slowestCall: number;
  readonly loopDelayP99: number;
  readonly loopDelayMax: number;
  /** In the client of one process that handed it in. */
  readonly peakQueue: number;
  /** Of one process in one illness, its recovery included. */
  readonly mostLines: number;
}

/** What a caller may get besides a value. */
export const CALL_ERRORS: ReadonlySet<string> = new Set([
  'LoadRejectedError',
  'WaitTimeoutError',
  'LoadTimeoutError',
]);
/** What whoever changes something may get. */
export const CHANGE_ERRORS: ReadonlySet<string> = new Set(['InvalidationError']);
/** Straight from Redis. */
const HITS: ReadonlySet<string> = new Set(['fresh', 'stale', 'early']);

export interface Findings {
  readonly figures: Figures;
  readonly wrong: readonly WrongValue[];
  readonly otherErrors: readonly string[];
  readonly unhandled: readonly string[];
}

export function findingsOf(chronicle: Chronicle): Findings {
  const { reports, illnesses } = chronicle;
  const { wrong, judged, excused } = wrongValues(chronicle);
  const calls = reports.flatMap((report) => report.calls);
  const loads = reports.flatMap((report) => report.loads);
  const changes = reports.flatMap((report) => report.changes);
  const unhandled = reports.flatMap((report) => report.unhandled);
  const took = calls.map(({ begin, end }) => end - begin).sort((a, b) => a - b);
  const recoveries = illnesses.flatMap(({ recovery }) => recovery);
  const otherErrors = otherErrorsOf(chronicle);
  const figures = {
    illnesses: illnesses.length,
    kinds: new Set(illnesses.map(({ kind }) => kind)).size,
    calls: calls.length,
    hits: calls.filter(({ outcome }) => outcome !== undefined && HITS.has(outcome)).length,
    loads: loads.length,
    unleasedLoads: loads.filter(({ leased }) => !leased).length,
    shed: calls.filter(({ error }) => error !== undefined && CALL_ERRORS.has(error)).length,
    changes: changes.length,
    failedChanges: changes.filter(({ error }) => error !== undefined).length,
    judged,
    excusedLostWrite: excused.lostWrite,
    excusedJoined: excused.joined,
    wrongValues: wrong.length,
    unhandled: unhandled.length,
    hangingCalls: sum(reports.map(({ hanging }) => hanging)),
    otherErrors: otherErrors.length,
    peakLoads: most(reports.map(({ peakLoads }) => peakLoads)),
    slowestRecovery: most(recoveries.filter((ms) => !Number.isNaN(ms))),
    missedRecoveries: recoveries.filter((ms) => Number.isNaN(ms)).length,
    callP99: quantile(took, 0.99),
    slowestCall: quantile(took, 1),
    loopDelayP99: most(reports.map(({ delay }) => delay.p99)),
    loopDelayMax: most(reports.map(({ delay }) => delay.max)),
    peakQueue: most(reports.map(({ peakQueue }) => peakQueue)),
    mostLines: most(reports.flatMap((report) => linesByIllness(report, chronicle))),
  };
  return { figures, wrong, otherErrors, unhandled };
}

function otherErrorsOf({ reports }: Chronicle): string[] {
  const ofCalls = reports.flatMap(({ calls }) => calls.map(({ error }) => error));
  const ofChanges = reports.flatMap(({ changes }) => changes.map(({ error }) => error));
  return [
    ...ofCalls.filter((error) => error !== undefined && !CALL_ERRORS.has(error)),
    ...ofChanges.filter((error) => error !== undefined && !CHANGE_ERRORS.has(error)),
  ].map(String);
}

/** How many lines the process wrote from each illness to the next. */
function linesByIllness({ lines }: Report, { illnesses }: Chronicle): number[] {
  return illnesses.map(({ begin }, index) => {
    const next = illnesses[index + 1]?.begin ?? Infinity;
    return lines.filter(({ at }) => at >= begin && at < next).length;
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const most = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.max(a, b), 0);
