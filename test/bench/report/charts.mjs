import { isOurs, isPeer } from '../adapters/index.mjs';
import { barChart } from './chart.mjs';

/** The files of a scenario's charts: `{ name, svg, alt }`. */
export function chartsOf(scenario, summary) {
  return (scenario.charts ?? []).flatMap((chart, index) => {
    const name = chart.case ?? summary.cases[0];
    const figure = chart.figure ?? scenario.view.figure;
    const rows = summary.adapters
      .filter((adapter) => !chart.without?.includes(adapter))
      .map((adapter) => ({
        name: adapter,
        value: summary.median(adapter, name, figure),
        kind: kindOf(adapter),
      }))
      .filter(({ value }) => value !== undefined);
    if (rows.length === 0) return [];
    const title = chart.title ?? (name === '' ? scenario.title : `${scenario.title}: ${name}`);
    const file = `${scenario.id}${index === 0 ? '' : `-${index + 1}`}.svg`;
    return [
      {
        file,
        alt: `${title}, ${chart.label}`,
        svg: barChart({ title, subtitle: chart.label, rows, log: chart.log }),
      },
    ];
  });
}

function kindOf(adapter) {
  if (isOurs(adapter)) return 'ours';
  return isPeer(adapter) ? 'peer' : 'limit';
}
