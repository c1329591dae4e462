import { groupBy } from '../history/group.js';
import { quantile } from '../integration/fleet/tally.js';
import { CALL_ERRORS, type Findings } from './judge/figures.js';
import type { CallRecord, Chronicle, IllnessRecord } from './records.js';

/** A table of the illnesses, and one of the figures. */
export function tableOf(chronicle: Chronicle, { figures }: Findings): string {
  const lines = [row(['illness', 'times', 'calls', 'shed', 'p50', 'p99', 'longest', 'recovery'])];
  const calls = chronicle.reports.flatMap((report) => report.calls);
  for (const [kind, all] of groupBy(chronicle.illnesses, (illness) => illness.kind))
    lines.push(
      lineOf(
        kind,
        all,
        calls.filter((call) => all.some((illness) => isWithin(call, illness))),
      ),
    );
  lines.push('');
  for (const [name, value] of Object.entries(figures)) lines.push(`${name.padEnd(18)} ${Math.round(value)}`);
  return lines.join('\n');
}

const isWithin = ({ begin }: CallRecord, illness: IllnessRecord): boolean =>
  begin >= illness.begin && begin < illness.healed;

function lineOf(kind: string, all: readonly IllnessRecord[], calls: readonly CallRecord[]): string {
  const took = calls.map(({ begin, end }) => end - begin).sort((a, b) => a - b);
  const shed = calls.filter(({ error }) => error !== undefined && CALL_ERRORS.has(error)).length;
  const recovery = Math.max(...all.flatMap((illness) => illness.recovery));
  const numbers = [quantile(took, 0.5), quantile(took, 0.99), quantile(took, 1), recovery];
  return row([kind, all.length, calls.length, shed, ...numbers.map((ms) => `${Math.round(ms)} ms`)]);
}

const row = ([first, ...others]: readonly (string | number)[]): string =>
  [String(first).padEnd(12), ...others.map((cell) => String(cell).padStart(9))].join(' ');
