import { times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

describe('FC-107: a refresh moment that ten processes read through', () => {
  it('costs one load; the others pick the new value up from Redis', async () => {
    const policy = { ttl: 1_000, stale: '10s', earlyRefresh: { window: 500 } } as const;
    // Ten applications stand for ten processes: each rolls its own dice and has its own flights.
    const apps = await times(10, () => here.app());
    let starts = 0;
    const load = async (ctx: { ttl(ttl: '1m'): void }) => {
      starts += 1;
      if (starts > 1) ctx.ttl('1m');
      return `v${starts}`;
    };
    await apps[0]!.cache.getOrLoad('k', load, policy);
    const seen = await Promise.all(
      apps.map(async ({ cache }) => {
        const outcomes = new Set<string>();
        for (;;) {
          const { value, outcome } = await cache.getOrLoadEntry('k', load, policy);
          outcomes.add(outcome);
          if (value === 'v2') return outcomes;
        }
      }),
    );
    expect(starts).toBe(2);
    // Nobody waited for it.
    const all = new Set(seen.flatMap((outcomes) => [...outcomes]));
    expect([...all].filter((outcome) => !['fresh', 'early', 'stale'].includes(outcome))).toEqual([]);
    const reasons = apps.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'load.start' ? [event.reason] : [])),
    );
    expect(reasons).toEqual(['miss', 'early']);
  }, 15_000);
});
