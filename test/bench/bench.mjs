/**
 * Measures the package beside its limits and its peers, prints a line of JSON a measurement, and writes docs/benchmarks.md.
 *
 *   npm run bench -- [--quick] [--only=hot,cold-fleet] [--rounds=5] [--from=lines.jsonl] [--docs=folder]
 *
 * `--from` measures nothing and makes the page of the lines of an earlier run. A run that is quick or of some scenarios alone
 * writes no page, unless `--docs` says where: that in docs/ is of a full run.
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { ensureDist } from '../../scripts/ensure-dist.mjs';
import { PACKAGES } from './adapters/index.mjs';
import { Pool } from './fleet/pool.mjs';
import { RedisServer } from './fleet/redis.mjs';
import { lineOf, parseLines } from './report/lines.mjs';
import { targetsOf, writePage } from './report/page.mjs';
import { versionOf } from './root.mjs';
import { SCENARIOS } from './scenarios/index.mjs';
import { runScenario } from './scenarios/run.mjs';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    from: { type: 'string' },
    docs: { type: 'string' },
  },
});

function chosen() {
  const ids = values.only?.split(',') ?? SCENARIOS.map(({ id }) => id);
  const unknown = ids.filter((id) => !SCENARIOS.some((scenario) => scenario.id === id));
  if (unknown.length > 0) {
    throw new Error(`--only=${unknown.join(',')}: known are ${SCENARIOS.map(({ id }) => id).join(', ')}.`);
  }
  return SCENARIOS.filter(({ id }) => ids.includes(id));
}

function roundsOf() {
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds=${values.rounds}: a whole number from 1 on.`);
  return rounds;
}

async function measureAll(scenarios, rounds) {
  const lines = [];
  const print = (figures) => {
    const line = lineOf(figures);
    console.log(line);
    lines.push(...parseLines(line));
  };
  const { quick } = values;
  const server = await RedisServer.start();
  const pool = new Pool(server.url);
  try {
    const versions = Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)]));
    const [{ model: cpu }, cores] = [cpus()[0], cpus().length];
    const { node } = process.versions;
    print({
      run: { date: today(), node, redis: await server.version(), cpu, cores, rounds, quick, versions },
    });
    for (const scenario of scenarios) {
      const begun = performance.now();
      await runScenario(scenario, { pool, server, rounds, quick, print });
      console.error(`${scenario.id}: ${Math.round((performance.now() - begun) / 1_000)} s`);
    }
  } finally {
    await pool.close();
    await server.stop();
  }
  return lines;
}

const today = () => new Date().toISOString().slice(0, 10);

function tell(lines) {
  console.log(`\n${targetsOf(lines)}`);
  if (values.docs) writePage(lines, `${values.docs.replace(/\/$/, '')}/`);
  else if (values.from || !(values.only || values.quick)) writePage(lines);
}

const scenarios = chosen();
const rounds = roundsOf();
if (values.from) tell(parseLines(readFileSync(values.from, 'utf8')));
else {
  ensureDist();
  tell(await measureAll(scenarios, rounds));
}
