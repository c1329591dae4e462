import { Bench } from 'tinybench';
import { VALUES } from '../values.mjs';

const FOR_AN_HOUR = { ttlMs: 3_600_000 };

/** One call for `count` ids after the other; without a bulk call one call for each id, all at once. */
function manyOf(cache) {
  if (cache.usingMany) return cache.usingMany(FOR_AN_HOUR);
  const get = cache.using(FOR_AN_HOUR);
  return (ids, load) => Promise.all(ids.map((id) => get(id, async () => (await load([id])).get(id))));
}

/** The first call, which loads everything, and then hits by tinybench: milliseconds a call. */
export async function many(cache, { prefix, count, ms, warmMs }) {
  const getMany = manyOf(cache);
  const ids = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  let loads = 0;
  const load = async (missing) => {
    loads += 1;
    return new Map(missing.map((id) => [id, { ...VALUES['200 B'], id }]));
  };

  const begun = performance.now();
  await getMany(ids, load);
  const coldMs = performance.now() - begun;
  const coldLoads = loads;
  // What was just written off the request path is there when the next call reads.
  await new Promise((resolve) => setTimeout(resolve, 50));
  loads = 0;

  const bench = new Bench({ time: ms, iterations: 3, warmupTime: warmMs, warmupIterations: 2, throws: true });
  bench.add('hits', () => getMany(ids, load));
  const [task] = await bench.run();
  return { coldMs, coldLoads, ms: task.result.latency.p50, misses: loads };
}
