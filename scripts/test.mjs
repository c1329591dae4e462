/**
 * `npm test`: builds what the tests need, runs every kind of spec the way it wants to be run, and prints the totals.
 * What follows `--` goes to Jest: `npm test -- test/unit` runs the specs that match.
 *
 *   --nest11            the same specs against NestJS 11
 *   --only=<phase>      ordinary | timing | sample | slow (`*.slow.spec.ts`, in no run but its own: `npm run test:slow`)
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDist } from './ensure-dist.mjs';
import { findRedisServer } from './redis-server.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');

const PHASES = [
  // One worker more than this needs of processors: many specs wait.
  { name: 'ordinary', env: { JEST_KIND: 'ordinary' }, args: ['--maxWorkers=3'] },
  { name: 'timing', env: { JEST_KIND: 'timing' }, args: ['--runInBand'] },
  {
    name: 'sample',
    env: {},
    args: ['--config=sample-app/jest-e2e.config.ts', '--runInBand'],
    nest12Only: true,
  },
  { name: 'slow', env: { JEST_KIND: 'slow' }, args: ['--runInBand'], onRequest: true },
];

function parse(argv) {
  const nest11 = argv.includes('--nest11');
  const only = argv.find((arg) => arg.startsWith('--only='))?.slice('--only='.length);
  if (only !== undefined && !PHASES.some((phase) => phase.name === only)) {
    throw new Error(`--only=${only}: the phases are ${PHASES.map((phase) => phase.name).join(', ')}`);
  }
  const rest = argv.filter((arg) => arg !== '--nest11' && !arg.startsWith('--only='));
  return { nest11, only, rest };
}

function jest(phase, args, env, stdio) {
  return spawnSync(process.execPath, [JEST, ...phase.args, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env, ...phase.env },
    stdio,
    encoding: 'utf8',
  });
}

function hasSpecs(phase, args, env) {
  const listed = jest(phase, ['--listTests', '--json', ...args], env, ['ignore', 'pipe', 'inherit']);
  if (listed.status !== 0) throw new Error(`jest --listTests failed for the ${phase.name} specs`);
  return JSON.parse(listed.stdout).length > 0;
}

/** A spec file that does not even load counts as one failure: it would vanish from the sums otherwise. */
function totals(outputFile, status) {
  if (!existsSync(outputFile)) return { passed: 0, failed: 1 };
  const result = JSON.parse(readFileSync(outputFile, 'utf8'));
  const passed = result.numPassedTests;
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  return { passed, failed: failed === 0 && status !== 0 ? 1 : failed };
}

function run({ nest11, only, rest }) {
  ensureDist();
  findRedisServer();

  const env = nest11 ? { NEST: '11' } : {};
  const results = mkdtempSync(join(tmpdir(), 'stampede-cache-tests-'));
  const sum = { passed: 0, failed: 0 };
  try {
    for (const phase of PHASES) {
      if (only ? phase.name !== only : phase.onRequest || (nest11 && phase.nest12Only)) continue;
      if (!hasSpecs(phase, rest, env)) continue;
      console.log(`\n--- ${phase.name} specs${nest11 ? ' on NestJS 11' : ''}`);
      const outputFile = join(results, `${phase.name}.json`);
      const { status } = jest(phase, ['--json', `--outputFile=${outputFile}`, ...rest], env, [
        'ignore',
        'ignore', // the JSON again; the reporter writes to stderr
        'inherit',
      ]);
      const { passed, failed } = totals(outputFile, status);
      sum.passed += passed;
      sum.failed += failed;
    }
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
  return sum;
}

try {
  const { passed, failed } = run(parse(process.argv.slice(2)));
  if (passed + failed === 0) console.error('No test ran.');
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
} catch (error) {
  // Nothing could be run: the library does not compile, or there is no Redis server.
  console.error(error.message);
  console.log('\n0 passed, 1 failed');
  process.exitCode = 1;
}
