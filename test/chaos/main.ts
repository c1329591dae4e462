/**
 * `npm run test:chaos -- --seconds 120 --seed 1`: real processes under steady load, while Redis falls ill in one way after
 * the other. Exit code 1 if something did not hold, and for a run that proved nothing. See docs/chaos.md.
 */
import { parseArgs } from 'node:util';
import { ILLNESSES, type IllnessName } from './illnesses.js';
import { findingsOf } from './judge/figures.js';
import { failures, leastOf, vacuity } from './judge/verdict.js';
import type { Chronicle, IllnessRecord } from './records.js';
import { runChaos } from './run.js';
import { tableOf } from './table.js';

const SHOWN = 5;
const KINDS = Object.keys(ILLNESSES) as IllnessName[]; // the keys of a record are its names

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '120' },
      seed: { type: 'string', default: '1' },
      lines: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
    },
  });
  const seconds = whole(values.seconds);
  const seed = whole(values.seed);
  const kinds = values.only?.map(known) ?? KINDS;
  const chronicle = await runChaos({ seed, seconds, kinds, onIllness: tell });
  const findings = findingsOf(chronicle);
  const { wrong, otherErrors, unhandled } = findings;
  console.log(`\nseed ${seed}, ${seconds} seconds\n${tableOf(chronicle, findings)}`);
  for (const { what, call } of wrong.slice(0, SHOWN))
    console.log(`wrong value: ${what}: ${JSON.stringify(call)}`);
  for (const text of [...new Set([...otherErrors, ...unhandled])].slice(0, SHOWN)) console.log(text);
  if (values.lines) for (const line of linesOf(chronicle)) console.log(line);
  if (values.only) return report(failures(findings));
  return report([...failures(findings), ...vacuity(findings, leastOf(seconds, KINDS.length))]);
}

function tell({ kind, begin, healed, recovery }: IllnessRecord): void {
  const ms = recovery.map(Math.round).join(', ');
  console.log(`${kind} for ${Math.round(healed - begin)} ms; hits again after ${ms} ms`);
}

/** All that the processes wrote into their logs, in order. */
function linesOf({ reports, illnesses }: Chronicle): string[] {
  const begun = illnesses.map(({ kind, begin, healed }) => [
    { at: begin, text: `--- ${kind}` },
    { at: healed, text: `--- well again` },
  ]);
  const said = reports.flatMap((each) =>
    each.lines.map(({ at, text }) => ({ at, text: `p${each.process} ${text}` })),
  );
  const all = [...begun.flat(), ...said].sort((a, b) => a.at - b.at);
  return all.map(({ at, text }) => `${(at - (all[0]?.at ?? at)).toFixed(0).padStart(7)} ${text}`);
}

function report(reasons: readonly string[]): boolean {
  for (const reason of reasons) console.log(`FAILED ${reason}`);
  if (reasons.length === 0) console.log('everything held');
  return reasons.length === 0;
}

function known(name: string): IllnessName {
  const kind = KINDS.find((each) => each === name);
  if (kind === undefined) throw new Error(`no illness ${name}; there are: ${KINDS.join(', ')}`);
  return kind;
}

function whole(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new Error(`a whole number is wanted, received ${text}`);
}

main().then(
  (good) => process.exit(good ? 0 : 1),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
