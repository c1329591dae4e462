import { hasTrait, isPeer, OURS } from '../adapters/index.mjs';
import { avalanche } from '../scenarios/avalanche.mjs';
import { uniform } from '../scenarios/uniform.mjs';
import { most } from '../stats.mjs';
import { figure, ratio } from './format.mjs';
import { Summary } from './summary.mjs';

const LEASE_MS = 3_000;
const SLOTS = 100;

/** What was aimed at. `judge` gives what was reached, in words, and whether that is enough; nothing where it was not measured. */
const TARGETS = [
  ...['c 64', 'c 1,000'].flatMap((name) => [
    atLeast('uniform', `10,000 keys, ${name}, service: at least 0.90 of raw`, 0.9, (s) =>
      s.ratio(OURS, name, uniform.view),
    ),
    atLeast('uniform', `10,000 keys, ${name}, @Cached: at least 0.85 of raw`, 0.85, (s) =>
      s.ratio(`${OURS}, @Cached`, name, uniform.view),
    ),
  ]),
  atLeast('hot', 'one hot key, 200 B, c 1,000, `shared`: at least 25 x raw', 25, (s) =>
    hotRatio(s, `${OURS}, shared`),
  ),
  atLeast('hot', 'one hot key, 200 B, c 1,000, a copy per caller: at least 5 x raw', 5, (s) =>
    hotRatio(s, OURS),
  ),
  ...['200 B', '20 KB'].flatMap((size) => [
    atMost('near', `hit in the process, ${size}, \`shared\`: at most 6 x an awaited Map.get`, 6, (s) =>
      s.ratio(`${OURS}, l1, shared`, size, { figure: 'ns', better: 'lower', limit: ['Map.get'] }),
    ),
    atMost('near', `hit in the process, ${size}, copied: at most that and one JSON.parse`, 1, (s) =>
      copied(s, size),
    ),
  ]),
  atMost('cold-fleet', 'cold key in four processes: 1 load', 1, (s) => highest(s, 'loads'), figure),
  atMost(
    'cold-fleet',
    'cold key in four processes: p99 within 10 ms of its end',
    10,
    (s) => s.median(OURS, '', 'p99'),
    figure,
  ),
  atMost(
    'cold-fleet',
    'cold key in four processes: at most 8 commands a process',
    8,
    (s) => s.median(OURS, '', 'commands'),
    figure,
  ),
  atMost(
    'crash',
    'loader killed: others served after lease + load, ms',
    LEASE_MS + 100,
    (s) => s.median(OURS, '', 'last'),
    figure,
  ),
  atMost(
    avalanche.id,
    `avalanche: at most a quarter of ${SLOTS} slots refreshing`,
    SLOTS / 4,
    (s) => highest(s, 'peak'),
    figure,
  ),
  ...['Redis frozen', 'Redis killed'].flatMap((mode) =>
    [OURS, `${OURS}, l1`].map((own) => ({
      scenario: 'illness',
      text: `${mode}, ${own === OURS ? 'Redis alone' : 'copies in the process'}: p99 ahead of every peer`,
      judge: (s) => aheadOfPeers(s, mode, own),
    })),
  ),
];

const hotRatio = (summary, adapter) =>
  summary.ratio(adapter, '200 B, c 1,000', { figure: 'ops', better: 'higher', limit: ['raw GET'] });

/** Of all rounds: "never" and "one" are no medians. */
function highest(summary, key) {
  const values = summary.lines.filter(({ adapter }) => adapter === OURS).map((line) => line[key]);
  return values.length > 0 ? most(values) : undefined;
}

/** The share of what a copy may cost: six times a Map.get, and the JSON.parse of the same round. */
function copied(summary, size) {
  const at = (adapter, round) => summary.at(adapter, size, 'ns', round);
  return summary.over((round) => {
    const map = at('Map.get', round);
    return at(`${OURS}, l1`, round) / (6 * map + at('Map.get and JSON.parse', round) - map);
  });
}

/** Of the peers that keep values in the process as well, or of those that don't. */
function aheadOfPeers(summary, mode, own) {
  const p99 = (adapter) => summary.median(adapter, mode, 'p99');
  const isNear = (adapter) => hasTrait(adapter.replace(', impatient client', ''), 'near');
  const peers = summary.adapters.filter((adapter) => isPeer(adapter) && isNear(adapter) === isNear(own));
  const measured = [own, ...peers].filter((adapter) => p99(adapter) !== undefined);
  if (measured[0] !== own || measured.length === 1) return undefined;
  const best = measured.slice(1).reduce((first, next) => (p99(next) < p99(first) ? next : first));
  const reached = `${figure(p99(own))} ms, best peer (${best}) ${figure(p99(best))} ms`;
  return { reached, passed: p99(own) < p99(best) };
}

function atLeast(scenario, text, bound, of, format = ratio) {
  return bounded(scenario, text, of, format, (value) => value >= bound);
}

function atMost(scenario, text, bound, of, format = ratio) {
  return bounded(scenario, text, of, format, (value) => value <= bound);
}

function bounded(scenario, text, of, format, passes) {
  return {
    scenario,
    text,
    judge: (summary) => {
      const value = of(summary);
      return value === undefined ? undefined : { reached: format(value), passed: passes(value) };
    },
  };
}

/** `{ text, reached, passed }` of every target whose scenario was measured. */
export function judgeTargets(lines) {
  return TARGETS.flatMap((target) => {
    const summary = new Summary(lines, target.scenario);
    const verdict = summary.empty ? undefined : target.judge(summary);
    return verdict === undefined ? [] : [{ text: target.text, ...verdict }];
  });
}
