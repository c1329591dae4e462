import { hasTrait, withTraits } from '../adapters/index.mjs';
import { now } from '../clock.mjs';
import { most, peakOf, quantile, sum } from '../stats.mjs';

const LIMIT = 'raw GET';
const PROCESSES = 4;
const RATE = 200;

/** What a round tells of calls in an open loop. */
export function figuresOf(all) {
  const latencies = all.flatMap((one) => [...one.latencies]);
  const spans = all.flatMap((one) => one.spans);
  return {
    loads: spans.length,
    peak: peakOf(spans),
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    p999: quantile(latencies, 0.999),
    max: most(latencies),
    errors: sum(all.flatMap((one) => [...one.failed])),
  };
}

export const expiry = {
  id: 'expiry',
  title: 'Expiry under steady load',
  about:
    `One key that lives for 1 s, a load of 200 ms, ${PROCESSES} processes with ${RATE} calls a second each in an open loop: latency in ms ` +
    'counts from the moment a call was meant to begin. A stale window of 5 s, or the nearest to it, where there is one (marked +). ' +
    'The limit: the same calls, a raw `GET` and `JSON.parse` of a key that does not expire. Loads in the stretch that was watched.',
  names: [LIMIT, ...withTraits('loads')],
  processes: PROCESSES,
  mark: (name) => (hasTrait(name, 'window') ? '+' : ''),
  view: {
    columns: [
      ['loads', 'loads'],
      ['peak', 'most at once'],
      ['p50', 'p50'],
      ['p99', 'p99'],
      ['p999', 'p99.9'],
      ['max', 'longest'],
      ['errors', 'errors'],
    ],
    ratio: { figure: 'p99', better: 'lower', limit: [LIMIT] },
  },
  charts: [{ figure: 'p999', label: 'p99.9, ms', log: true }],

  async round({ children, round, quick, measure }) {
    await measure('', children, async (members, name) => {
      const policy =
        name === LIMIT
          ? { ttlMs: 3_600_000 }
          : { ttlMs: 1_000, staleMs: hasTrait(name, 'window') ? 5_000 : 0 };
      const key = `expiry-${round}-`;
      // There before the traffic begins: a cold start is another scenario.
      await members[0].call('burst', { key: `${key}0`, callers: 1, loadMs: 0, ...policy });
      const ms = quick ? 1_600 : 6_500;
      const at = now() + 60;
      const args = { ...policy, prefix: key, keys: 1, rate: RATE, ms, at, loadMs: 200 };
      const seeds = members.map((_, index) => round * 100 + index);
      const all = await Promise.all(
        members.map((member, index) => member.call('traffic', { ...args, seed: seeds[index] })),
      );
      return figuresOf(all);
    });
  },
};
