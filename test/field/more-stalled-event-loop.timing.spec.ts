import { setImmediate as turn } from 'node:timers/promises';
import { field } from './support/field.js';
import { times } from './support/conditions.js';

const here = field();

const KEYS = 100;
/** The library's default. */
const REDIS_TIMEOUT = 100;
const STALL = 130;

function stall(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe(`An event loop that stands still for ${STALL} ms, longer than redisTimeout`, () => {
  const open = async () => (await here.app({ cache: { redisTimeout: REDIS_TIMEOUT } })).cache;
  const never = () => Promise.reject(new Error('loaded'));

  it.each([
    ['while reads are on their way', 1],
    ['before they are written to the socket', 0],
    ['again and again', 5],
  ])('is no outage: all are hits, nothing is loaded, %s', async (_, stalls) => {
    const cache = await open();
    await times(KEYS, (key) => cache.set(['k', key], key));
    const before = cache.stats();
    for (let round = 0; round < Math.max(1, stalls); round++) {
      const reads = times(KEYS, (key) => cache.getOrLoadEntry(['k', key], never));
      if (stalls > 0) await turn();
      stall(STALL);
      const entries = await reads;
      expect(entries.map(({ value }) => value)).toEqual(Array.from({ length: KEYS }, (__, key) => key));
      expect(new Set(entries.map(({ outcome }) => outcome))).toEqual(new Set(['fresh']));
    }
    expect(cache.stats().storeFailures).toBe(before.storeFailures);
    expect(cache.stats().loads.started).toBe(before.loads.started);
  });

  it('costs no second load while another process is asked for its lease', async () => {
    const cache = await open();
    const other = await open();
    let loads = 0;
    const load = async () => {
      loads += 1;
      await turn();
      stall(STALL);
      return 'v';
    };
    const all = [
      ...Array.from({ length: 20 }, () => cache.getOrLoad('k', load)),
      ...Array.from({ length: 20 }, () => other.getOrLoad('k', load)),
    ];
    await turn();
    stall(STALL);
    expect(new Set(await Promise.all(all))).toEqual(new Set(['v']));
    expect(loads).toBe(1);
  });
});
