import { errorsOf, Fleet, serialsOf } from './support/fleet.js';

/** In the field 1,000 keys; a fifth of them here. */
const KEYS = 200;
const PROCESSES = 4;
const LOAD = 100;
const CONCURRENCY = 20;
const HOT_CALLERS = 500;

/** What the release under test has changed: everything that was cached is out of its sight. */
const CHANGES = {
  name: [{ name: 'products' }, { name: 'products-2' }],
  version: [{ version: 1 }, { version: 2 }],
} as const;

let fleet: Fleet;
afterEach(() => fleet.stop(), 30_000);

describe.each(Object.entries(CHANGES))(
  'FC-066: a release that changes the %s of a cached method',
  (_, [before, now]) => {
    it('loads each key once in the fleet, within the limit of each process; the hot key is no exception', async () => {
      const cache = { loads: { concurrency: CONCURRENCY, queueTimeout: '10s' } } as const;
      fleet = await Fleet.start({
        processes: PROCESSES + 1,
        cache,
        setupOf: (index) => (index === PROCESSES ? before : now),
      });
      const ids = Array.from({ length: KEYS }, (__, i) => `p${i}`);
      const [releases, old] = [fleet.workers.list.slice(0, PROCESSES), PROCESSES];
      await fleet.workers.call(old, 'each', ['hot', ...ids], 0);

      const hot = await Promise.all(
        releases.map((worker) => worker.call('burst', 'hot', HOT_CALLERS / PROCESSES, LOAD)),
      );
      expect(errorsOf(hot.flat())).toEqual([]);
      expect(hot.flat()).toHaveLength(HOT_CALLERS);
      expect(serialsOf(hot.flat())).toEqual([2]);
      // 250 ms in the field, where five processes do not share two cores.
      expect(Math.max(...hot.flat().map(({ took }) => took))).toBeLessThan(500);

      const rest = await Promise.all(releases.map((worker) => worker.call('each', ids, LOAD)));
      expect(errorsOf(rest.flat())).toEqual([]);
      expect(serialsOf(rest.flat())).toEqual([2]);
      const loads = await Promise.all(ids.map((id) => fleet.loads(id)));
      expect(loads.filter((by) => by.length !== 2)).toEqual([]);
      for (const worker of releases) expect(await worker.call('peak')).toBeLessThanOrEqual(CONCURRENCY);
      // The old release goes on from its own entries.
      expect(serialsOf(await fleet.workers.call(old, 'each', ids, 0))).toEqual([1]);
    }, 40_000);
  },
);
