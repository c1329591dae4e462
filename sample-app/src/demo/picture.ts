import { count, milliseconds } from './format.js';
import type { Measurement } from './measure.js';
import { p99, queriesOf } from './report.js';
import { BUCKET, CALLERS, PROCESSES, QUERY_TIME, RUN_TIME, TTL } from './scenario.js';
import { buckets } from './statistics.js';
import { timelineSvg, type Panel } from './timeline-svg.js';

const ORANGE = '#c2410c';
const TEAL = '#0f766e';

/** The queries of both runs over time, as an SVG document. */
export function picture(before: Measurement, after: Measurement): string {
  // Callers stay for their last answer, whose query may be late.
  const latest = Math.max(...[before, after].flatMap(({ expiring }) => expiring.queries), 0);
  const end = Math.max(RUN_TIME, latest + 1);
  return timelineSvg({
    title: `One key, ${CALLERS} callers, ${PROCESSES} processes: what reaches the database`,
    subtitle: `A query of ${QUERY_TIME} ms whose answer is cached for ${TTL / 1_000} s. Both runs on the same scale.`,
    unit: `queries per ${BUCKET} ms`,
    bucket: BUCKET,
    panels: [panel(before, ORANGE, end), panel(after, TEAL, end)],
  });
}

function panel(measurement: Measurement, color: string, end: number): Panel {
  const { contender, cold, expiring, coldEnd } = measurement;
  return {
    name: contender.name,
    total: queries(queriesOf(measurement)),
    note: `p99 after the cold start ${milliseconds(p99(expiring))}`,
    color,
    counts: buckets([...cold.queries, ...expiring.queries], BUCKET, end),
    shade: { until: coldEnd, label: `cold start: ${queries(cold.queries.length)}` },
  };
}

function queries(number: number): string {
  return number === 1 ? '1 query' : `${count(number)} queries`;
}
