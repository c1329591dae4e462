/**
 * Fails when the package has become clearly slower: a handful of ratios to the limits, each measured up to three times, against
 * baseline.json. Ratios of CPU time a call, where Redis answers: neighbours of the machine disturb them least.
 *
 *   npm run bench:guard               compares
 *   npm run bench:guard -- --write    measures three times and writes the medians
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ensureDist } from '../../scripts/ensure-dist.mjs';
import { OURS } from './adapters/index.mjs';
import { Pool } from './fleet/pool.mjs';
import { RedisServer } from './fleet/redis.mjs';
import { Summary } from './report/summary.mjs';
import { coldFleet } from './scenarios/burst.mjs';
import { hot } from './scenarios/hot.mjs';
import { near } from './scenarios/near.mjs';
import { runScenario } from './scenarios/run.mjs';
import { uniform } from './scenarios/uniform.mjs';
import { median, most, rounded } from './stats.mjs';

const BASELINE = new URL('./baseline.json', import.meta.url);
const RUNS = 3;
const ROUNDS = 5;
const TOLERANCE = 0.25;

/** `better: 'lower'`: what the figure is when it is good. A count has no tolerance. */
const CHECKS = {
  'hit, 64 callers: CPU of a call / raw GET': {
    scenario: uniform,
    case: 'c 64',
    own: OURS,
    to: { figure: 'cpuUs', better: 'lower', limit: ['raw GET', 'raw GET, auto-pipelined'] },
  },
  'hot key shared by 1,000 callers: CPU of a call / raw GET': {
    scenario: hot,
    case: '200 B, c 1,000',
    own: `${OURS}, shared`,
    to: { figure: 'cpuUs', better: 'lower', limit: ['raw GET'] },
  },
  'shared hit in the process: time / awaited Map.get': {
    scenario: near,
    case: '200 B',
    own: `${OURS}, l1, shared`,
    to: { figure: 'ns', better: 'lower', limit: ['Map.get'] },
  },
  'cold key in four processes: loads': { scenario: coldFleet, case: '', own: OURS, count: 'loads' },
};

async function measure(names) {
  const server = await RedisServer.start();
  const pool = new Pool(server.url);
  const figures = {};
  try {
    for (const name of names) {
      const { scenario, own, to, count } = CHECKS[name];
      const lines = [];
      await runScenario(scenario, {
        ...{ pool, server, rounds: ROUNDS, quick: false, print: (line) => lines.push(line) },
        names: [...(to?.limit ?? []), own],
        cases: [CHECKS[name].case],
      });
      const summary = new Summary(lines, scenario.id);
      figures[name] = rounded(
        count ? most(lines.map((line) => line[count])) : summary.ratio(own, CHECKS[name].case, to),
        3,
      );
    }
  } finally {
    await pool.close();
    await server.stop();
  }
  return figures;
}

async function write() {
  const runs = [];
  for (let run = 0; run < RUNS; run++) {
    runs.push(await measure(Object.keys(CHECKS)));
    console.log(JSON.stringify(runs.at(-1)));
  }
  const medians = Object.keys(CHECKS).map((name) => [name, median(runs.map((figures) => figures[name]))]);
  writeFileSync(BASELINE, `${JSON.stringify(Object.fromEntries(medians), null, 2)}\n`);
}

const isBeyond = (name, value, baseline) => !(value <= baseline * (CHECKS[name].count ? 1 : 1 + TOLERANCE));

/** What was beyond its baseline in every run. */
async function compare(baseline) {
  let suspects = Object.keys(CHECKS);
  for (let run = 1; run <= RUNS && suspects.length > 0; run++) {
    const figures = await measure(suspects);
    for (const name of suspects) {
      const beyond = isBeyond(name, figures[name], baseline[name]);
      console.log(
        `${beyond ? 'beyond' : 'ok'}: ${name}: ${figures[name]}, baseline ${baseline[name]} (run ${run})`,
      );
    }
    suspects = suspects.filter((name) => isBeyond(name, figures[name], baseline[name]));
  }
  return suspects;
}

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
ensureDist();
if (values.write) await write();
else {
  const failed = await compare(JSON.parse(readFileSync(BASELINE, 'utf8')));
  for (const name of failed) console.error(`${name}: worse than the baseline in ${RUNS} of ${RUNS} runs.`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
