import { isDeepStrictEqual } from 'node:util';
import { Bench } from 'tinybench';
import { VALUES } from '../values.mjs';

const FOR_AN_HOUR = { ttlMs: 3_600_000 };
/** Calls in one sample of tinybench: its own clock then costs nothing. */
const BATCH = 100;

const keysOf = (prefix, keys) => Array.from({ length: keys }, (_, index) => `${prefix}${index}`);

/** Fills entries, and says whether what comes back is what went in. */
export async function seed(cache, { prefix, keys, size }) {
  const get = cache.using(FOR_AN_HOUR);
  const load = async () => VALUES[size];
  const names = keysOf(prefix, keys);
  for (let index = 0; index < keys; index += 50) {
    await Promise.all(names.slice(index, index + 50).map((key) => get(key, load)));
  }
  const got = await get(names[0], load);
  return isDeepStrictEqual(got, VALUES[size]);
}

/**
 * A closed loop: `callers` that each await one call after the other. Our own, because the limiter and the clock around each call
 * with which tinybench does this cost more than the shared hits that are measured.
 */
export async function hits(cache, { prefix, keys, callers, ms, warmMs }) {
  const get = cache.using(FOR_AN_HOUR);
  const names = keysOf(prefix, keys);
  let misses = 0;
  const load = async () => {
    misses += 1;
    return {};
  };

  async function phase(duration) {
    const begun = performance.now();
    const end = begun + duration;
    let calls = 0;
    let over = false;
    async function caller(number) {
      let at = Math.imul(number, 2654435761) >>> 0;
      while (!over) {
        at = (Math.imul(at, 1664525) + 1013904223) >>> 0;
        await get(names[at % keys], load);
        calls += 1;
        if ((calls & 31) === 0 && performance.now() >= end) over = true;
      }
    }
    await Promise.all(Array.from({ length: callers }, (_, number) => caller(number)));
    return { calls, seconds: (performance.now() - begun) / 1_000 };
  }

  await phase(warmMs);
  const before = process.cpuUsage();
  const { calls, seconds } = await phase(ms);
  const { user, system } = process.cpuUsage(before);
  return { ops: calls / seconds, cpuUs: (user + system) / calls, misses };
}

/** One caller that awaits one call after the other, by tinybench: nanoseconds a call, the median of its samples. */
export async function near(cache, { prefix, ms, warmMs }) {
  const get = cache.using(FOR_AN_HOUR);
  const key = `${prefix}0`;
  let misses = 0;
  const load = async () => {
    misses += 1;
    return {};
  };
  const bench = new Bench({ time: ms, iterations: 3, warmupTime: warmMs, warmupIterations: 1, throws: true });
  bench.add('hits', async () => {
    for (let call = 0; call < BATCH; call++) await get(key, load);
  });
  const [task] = await bench.run();
  return { ns: (task.result.latency.p50 * 1e6) / BATCH, misses };
}
