/** Which case is told as a share of which. */
const RATIOS = [
  ['empty interceptor', 'constant'],
  ['interceptor', 'constant'],
  ['busy interceptor', 'constant'],
  ['hot', 'constant'],
  ['hot in Redis', 'constant'],
  ['official hot', 'constant'],
  ['hot', 'interceptor'],
  ['hot', 'busy interceptor'],
  ['hot', 'official hot'],
  ['hot in Redis', 'official hot'],
  ['interceptor, getBuffer', 'getBuffer'],
  ['keys', 'getBuffer'],
  ['keys', 'interceptor, getBuffer'],
  ['official keys', 'getBuffer'],
  ['keys', 'official keys'],
];

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Medians of requests per second and latencies, and of the ratios of each round, as Markdown. */
export function table(lines) {
  const groups = groupBy(lines, groupOf);
  return [...groups]
    .map(([group, all]) => [`\n${group}\n`, ...medians(all), '', ...ratios(all)].join('\n'))
    .join('\n');
}

const groupOf = ({ adapter, size }) => `${adapter}, ${size} B`;

function groupBy(lines, keyOf) {
  const groups = new Map();
  for (const line of lines) groups.set(keyOf(line), [...(groups.get(keyOf(line)) ?? []), line]);
  return groups;
}

function medians(lines) {
  const rows = [...groupBy(lines, (line) => line.case)].map(([name, all]) => {
    const of = (figure) => median(all.map((line) => line[figure]));
    return `| ${name} | ${Math.round(of('rps'))} | ${of('p50')} | ${of('p99')} | ${of('cpu').toFixed(1)} |`;
  });
  return [
    '| case | requests/s | p50, ms | p99, ms | CPU a request, µs |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows,
  ];
}

/** Of one case to another, round by round. */
function ratiosOf(lines, figure, [one, other]) {
  const found = new Map(lines.map((line) => [`${line.case} ${line.round}`, line[figure]]));
  const rounds = [...new Set(lines.map(({ round }) => round))];
  return rounds.map((round) => found.get(`${one} ${round}`) / found.get(`${other} ${round}`));
}

function ratios(lines) {
  const rows = RATIOS.map(([one, other]) => {
    const rps = ratiosOf(lines, 'rps', [one, other]);
    const cpu = ratiosOf(lines, 'cpu', [one, other]);
    const range = `${Math.min(...rps).toFixed(2)} to ${Math.max(...rps).toFixed(2)}`;
    return `| ${one} / ${other} | ${median(rps).toFixed(2)} | ${range} | ${median(cpu).toFixed(2)} |`;
  });
  return ['| ratio | requests/s | rounds | CPU a request |', '| --- | ---: | --- | ---: |', ...rows];
}
