import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SCENARIOS } from '../scenarios/index.mjs';
import { chartsOf } from './charts.mjs';
import { tableOf, wrap } from './format.mjs';
import { METHOD, NOT_COMPARABLE } from './method.mjs';
import { Summary } from './summary.mjs';
import { tablesOf } from './tables.mjs';
import { judgeTargets } from './targets.mjs';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

/** Writes docs/benchmarks.md and its charts from the lines of a run. */
export function writePage(lines, docs = DOCS) {
  const pictures = `${docs}benchmarks/`;
  rmSync(pictures, { recursive: true, force: true });
  mkdirSync(pictures, { recursive: true });
  const sections = SCENARIOS.flatMap((scenario) => {
    const summary = new Summary(lines, scenario.id);
    if (summary.empty) return [];
    const charts = chartsOf(scenario, summary);
    for (const { file, svg } of charts) writeFileSync(pictures + file, svg);
    return [sectionOf(scenario, summary, charts)];
  });
  const meta = lines.find((line) => line.run)?.run;
  const page = [
    '# Benchmarks',
    '<!-- Made by `npm run bench`; do not edit. -->',
    METHOD,
    ...(meta ? [aboutRun(meta)] : []),
    '## Targets',
    targetsOf(lines),
    ...sections,
    NOT_COMPARABLE,
  ];
  writeFileSync(`${docs}benchmarks.md`, `${page.join('\n\n')}\n`);
}

export function targetsOf(lines) {
  const rows = judgeTargets(lines).map(({ text, reached, passed }) => [text, reached, passed ? '✓' : '✗']);
  return tableOf(['what was aimed at', 'reached', ''], rows);
}

function sectionOf(scenario, summary, charts) {
  const left = Object.entries(scenario.leftOut ?? {}).map(([name, why]) => `${name} (${why})`);
  const failed = scenario.names.filter(
    (name) => !summary.adapters.some((each) => each === name || each.startsWith(`${name}, imp`)),
  );
  return [
    `## ${scenario.title}`,
    wrap(scenario.about),
    ...charts.map(({ file, alt }) => `![${alt}](benchmarks/${file})`),
    tablesOf(scenario, summary),
    ...(left.length > 0 ? [wrap(`Left out: ${left.join(', ')}.`)] : []),
    ...(failed.length > 0 ? [wrap(`Not measured in this run: ${failed.join(', ')}.`)] : []),
  ].join('\n\n');
}

function aboutRun({ date, node, redis, cpu, cores, rounds, quick, versions }) {
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const how = quick
    ? `a quick run (rounds: ${rounds}), fit to see that it works and for nothing else`
    : `${rounds} rounds`;
  return wrap(
    `This page: ${how}; ${date}; Node.js ${node}, Redis ${redis}, ${cores} cores (${cpu}); ${packages.join(', ')}.`,
  );
}
