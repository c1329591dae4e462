import type { Measurement, Phase } from '../../../sample-app/src/demo/measure.js';
import { picture } from '../../../sample-app/src/demo/picture.js';
import { conclusion, results } from '../../../sample-app/src/demo/report.js';
import { CACHE_ASIDE, CACHED } from '../../../sample-app/src/demo/scenario.js';

const phase = (latencies: readonly number[], queries: readonly number[], failed = 0): Phase => ({
  answers: latencies.map((latency, index) => ({ latency, ok: index >= failed })),
  queries,
});

const before: Measurement = {
  contender: CACHE_ASIDE,
  cold: phase([210, 420], [1, 2, 3]),
  coldEnd: 430,
  expiring: phase([2, 3, 1_500], [1_500, 1_501, 1_502], 1),
};
const after: Measurement = {
  contender: CACHED,
  cold: phase([205, 206], [1]),
  coldEnd: 210,
  expiring: phase([2, 3, 4], [1_200]),
};

describe('the report', () => {
  it('has a line for each phase of each contender', () => {
    const cells = results([before, after])
      .split('\n')
      .slice(2)
      .map((line) => line.split(/ {2,}/));

    expect(cells).toEqual([
      ['cache-aside, cold', '2', '3', '210 ms', '420 ms', '420 ms', '0'],
      ['cache-aside, at each expiry', '3', '3', '3.0 ms', '1.50 s', '1.50 s', '1'],
      ['@Cached, cold', '2', '1', '205 ms', '206 ms', '206 ms', '0'],
      ['@Cached, at each expiry', '3', '1', '3.0 ms', '4.0 ms', '4.0 ms', '0'],
    ]);
  });

  it('concludes with the ratio and the latencies it measured', () => {
    expect(conclusion(before, after)).toBe(
      'cache-aside sent 6 queries to the database, 3 times as many as the 2 of @Cached; ' +
        'once the cache was warm, p99 was 1.50 s and 4.0 ms.',
    );
  });

  it('is honest when the module does worse', () => {
    expect(conclusion(after, before)).toMatch(/^@Cached sent 2 queries.* 0\.33 times as many as the 6 of/);
  });
});

describe('the picture', () => {
  it('shows both runs with their totals', () => {
    const svg = picture(before, after);
    for (const shown of [
      'cache-aside',
      '6 queries',
      '@Cached',
      '2 queries',
      'cold start: 3 queries',
      'cold start: 1 query',
      '1.50 s',
    ]) {
      expect(svg).toContain(shown);
    }
  });

  it('has room for a query that comes after the end', () => {
    const late = { ...before, expiring: phase([2], [12_345]) };
    const barsOf = (svg: string) =>
      [...svg.matchAll(/<path d="([^"]*)"/g)].map(([, path = '']) => path.split('Z').length - 1);
    expect(barsOf(picture(late, after))).toEqual([2, 2]);
  });
});
