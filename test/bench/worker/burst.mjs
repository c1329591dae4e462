import { now, until } from '../clock.mjs';
import { VALUES } from '../values.mjs';
import { Origin } from './origin.mjs';

/** Many callers of one key in one turn of the event loop. */
export async function burst(cache, { key, callers, loadMs, at, ttlMs = 3_600_000, staleMs = 0 }) {
  const get = cache.using({ ttlMs, staleMs });
  const origin = new Origin(loadMs, VALUES['200 B']);
  if (at !== undefined) await until(at);
  const begun = now();
  const ends = new Float64Array(callers);
  let errors = 0;
  async function one(number) {
    try {
      const value = await get(key, origin.load);
      if (value?.id !== VALUES['200 B'].id) errors += 1;
    } catch {
      errors += 1;
    }
    ends[number] = now();
  }
  await Promise.all(Array.from({ length: callers }, (_, number) => one(number)));
  return { begun, ends, errors, spans: origin.all };
}
