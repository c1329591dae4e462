/**
 * `npm run test:history -- --seconds 120 --seed 1`: random schedules over real processes, in rounds of one seed each, and
 * the verdict on their histories. Exit code 1 for a violation, and for a run that proved nothing. See docs/history-checker.md.
 */
import { parseArgs } from 'node:util';
import { excerpt } from './excerpt.js';
import { BRIEF_RUN, figuresOf, LONG_RUN, sum, vacuity, type Figures } from './figures.js';
import { MUTANTS } from './mutants.js';
import { ProjectCopy } from './project-copy.js';
import { Races } from './races.js';
import { runRound, type Round } from './round.js';

const ROUND_SECONDS = 10;
/** From so long on a run is to prove something. */
const LONG_SECONDS = 60;
const MOST_EXCERPTS = 3;

interface Run {
  readonly seed: number;
  readonly seconds: number;
  readonly processes: number;
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '120' },
      seed: { type: 'string', default: '1' },
      processes: { type: 'string', default: '4' },
      mutants: { type: 'boolean', default: false },
      races: { type: 'string' },
    },
  });
  const run = {
    seed: whole(values.seed),
    seconds: whole(values.seconds),
    processes: whole(values.processes),
  };
  if (values.races !== undefined) return measureRaces(whole(values.races));
  return values.mutants ? huntMutants(run) : explore(run);
}

/** Rounds with one seed after the other, until the time is up or a rule is broken. */
async function explore({ seed: first, seconds, processes }: Run): Promise<boolean> {
  const all: Figures[] = [];
  const end = performance.now() + seconds * 1_000;
  for (let seed = first; performance.now() < end; seed++) {
    const round = await runRound({
      seed,
      seconds: Math.min(ROUND_SECONDS, seconds),
      processes,
    });
    all.push(figuresOf(round.history));
    tell(round);
    if (round.ruling.violations.length === 0) continue;
    console.log(
      `\nreplay: npm run test:history -- --seed ${seed} --seconds ${ROUND_SECONDS} --processes ${processes}`,
    );
    return false;
  }
  console.log(`all ${all.length} rounds: ${JSON.stringify(sum(all))}`);
  const reasons = vacuity(sum(all), seconds >= LONG_SECONDS ? LONG_RUN : BRIEF_RUN);
  for (const reason of reasons) console.log(`vacuous: ${reason}`);
  return reasons.length === 0;
}

/** Prints what a round did, and what was wrong. */
function tell({ seed, history, ruling }: Round): void {
  const { violations, exclusions, judged } = ruling;
  console.log(`seed ${seed}: ${JSON.stringify(figuresOf(history))}`);
  console.log(`  judged by rule: ${JSON.stringify(Object.fromEntries(judged))}`);
  console.log(`  left out: ${JSON.stringify(Object.fromEntries(exclusions))}`);
  if (violations.length > 0) console.log(`  ${violations.length} violations`);
  for (const violation of violations.slice(0, MOST_EXCERPTS)) console.log(`\n${excerpt(history, violation)}`);
}

/** Random schedules against builds that are known to be wrong: how many rounds it takes to find each of them. */
async function huntMutants({ seed: first, seconds, processes }: Run): Promise<boolean> {
  for (const { name, edits } of MUTANTS) {
    const copy = new ProjectCopy(edits);
    try {
      const end = performance.now() + seconds * 1_000;
      let broken: readonly string[] = [];
      let seed = first;
      for (; broken.length === 0 && performance.now() < end; seed++) {
        const { ruling } = await runRound({
          seed,
          seconds: ROUND_SECONDS,
          processes,
          root: copy.root,
        });
        broken = [...new Set(ruling.violations.map(({ rule }) => rule))];
      }
      const rounds = seed - first;
      console.log(
        broken.length > 0
          ? `${name}: found in round ${rounds} (guarantees ${broken.join(', ')})`
          : `${name}: not found in ${rounds} rounds; its directed schedule finds it`,
      );
    } finally {
      copy.remove();
    }
  }
  return true;
}

async function measureRaces(repetitions: number): Promise<boolean> {
  const races = await Races.start(repetitions);
  let won = await races.control();
  try {
    for (const kind of ['invalidate', 'invalidateTags', 'clear'] as const) {
      const result = await races.run(kind);
      console.log(`${kind}: ${JSON.stringify(result)}`);
      won &&= result.won === repetitions;
    }
  } finally {
    await races.stop();
  }
  return won;
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
