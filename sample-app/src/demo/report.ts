import { count, milliseconds } from './format.js';
import type { Measurement, Phase } from './measure.js';
import { percentile } from './statistics.js';
import { table } from './table.js';

const HEADER = ['', 'requests', 'database queries', 'p50', 'p99', 'max', 'errors'];

/** Two lines for each contender. */
export function results(measurements: readonly Measurement[]): string {
  return table(
    HEADER,
    measurements.flatMap(({ contender, cold, expiring }) => [
      row(`${contender.name}, cold`, cold),
      row(`${contender.name}, at each expiry`, expiring),
    ]),
  );
}

function row(name: string, { answers, queries }: Phase): string[] {
  const latencies = latenciesOf(answers);
  return [
    name,
    count(answers.length),
    count(queries.length),
    ...[0.5, 0.99, 1].map((fraction) => milliseconds(percentile(latencies, fraction))),
    count(answers.filter(({ ok }) => !ok).length),
  ];
}

/** What the table says, in a sentence. */
export function conclusion(before: Measurement, after: Measurement): string {
  const [many, few] = [queriesOf(before), queriesOf(after)];
  const ratio = many > few ? count(many / few) : (many / few).toFixed(2);
  const slowest = (measurement: Measurement) => milliseconds(p99(measurement.expiring));
  return (
    `${before.contender.name} sent ${count(many)} queries to the database, ${ratio} times as many as the ${count(few)} of ` +
    `${after.contender.name}; once the cache was warm, p99 was ${slowest(before)} and ${slowest(after)}.`
  );
}

export function queriesOf({ cold, expiring }: Measurement): number {
  return cold.queries.length + expiring.queries.length;
}

export function p99({ answers }: Phase): number {
  return percentile(latenciesOf(answers), 0.99);
}

function latenciesOf(answers: Phase['answers']): number[] {
  return answers.map(({ latency }) => latency);
}
