import { figure, ratio, tableOf } from './format.mjs';

/** A scenario's tables, as Markdown. */
export function tablesOf(scenario, summary) {
  return scenario.view.columns ? byCase(scenario, summary) : pivot(scenario, summary);
}

const rowName = ({ mark }, name) => `${name}${mark?.(name) ? ` ${mark(name)}` : ''}`;

/** A row a configuration, a column a case: the figure, and its ratio to the limit; and the CPU time of a call, where it was taken. */
function pivot(scenario, summary) {
  const { view } = scenario;
  const main = pivotOf(scenario, summary, (adapter, name) => {
    const value = summary.median(adapter, name, view.figure);
    if (value === undefined) return '–';
    const misses = summary.lines.some(
      (line) => line.adapter === adapter && line.case === name && line.misses > 0,
    );
    return `${figure(Math.round(value))} (${ratio(summary.ratio(adapter, name, view))})${misses ? ' !' : ''}`;
  });
  const parts = [main];
  if (main.includes(' !')) parts.push('! Not all of these calls were hits.');
  if (summary.lines.some(({ cpuUs }) => cpuUs !== undefined)) {
    const cpu = pivotOf(scenario, summary, (adapter, name) => figure(summary.median(adapter, name, 'cpuUs')));
    parts.push('CPU time of the client a call, in µs, which neighbours of the machine disturb less:', cpu);
  }
  return parts.join('\n\n');
}

function pivotOf(scenario, { adapters, cases }, cellOf) {
  const rows = adapters.map((adapter) => [
    rowName(scenario, adapter),
    ...cases.map((name) => cellOf(adapter, name)),
  ]);
  return tableOf(['', ...cases], rows);
}

/** A table a case: a row a configuration, a column a figure. */
function byCase(scenario, summary) {
  const { columns, ratio: to } = scenario.view;
  const tables = summary.cases.map((name) => {
    const rows = summary.adapters
      .filter((adapter) => summary.lines.some((line) => line.adapter === adapter && line.case === name))
      .map((adapter) => [
        rowName(scenario, adapter),
        ...columns.map(([key, , kind]) => figure(summary.median(adapter, name, key), kind)),
        ...(to ? [ratio(summary.ratio(adapter, name, to))] : []),
      ]);
    const compared = to && columns.find(([key]) => key === to.figure)[1];
    const head = ['', ...columns.map(([, label]) => label), ...(to ? [`${compared} / limit`] : [])];
    return name === '' ? tableOf(head, rows) : `**${name}**\n\n${tableOf(head, rows)}`;
  });
  return tables.join('\n\n');
}
