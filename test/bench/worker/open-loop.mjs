import { now, sleep, until } from '../clock.mjs';
import { seeded } from '../stats.mjs';
import { VALUES } from '../values.mjs';
import { Origin } from './origin.mjs';

/** Fewer at once than a load guard has slots. */
const FILLERS = 50;

/** Fills many keys in a moment, so that they fall due in a moment. */
export async function fill(cache, { prefix, keys, ...policy }) {
  const get = cache.using(policy);
  const origin = new Origin(0, VALUES['200 B']);
  let next = 0;
  async function filler() {
    while (next < keys) await get(`${prefix}${next++}`, origin.load);
  }
  await Promise.all(Array.from({ length: FILLERS }, filler));
}

/**
 * An open loop: calls come at random moments at their rate, whether or not earlier ones were answered, and each call's latency
 * counts from the moment it was meant to begin. Nothing that we found does this for function calls: autocannon and its kind
 * speak HTTP, tinybench has closed loops.
 */
export async function traffic(cache, { prefix, keys, rate, ms, at, seed, loadMs, graceMs = 500, ...policy }) {
  const get = cache.using(policy);
  const origin = new Origin(loadMs, VALUES['200 B']);
  const random = seeded(seed);
  const calls = [];
  let open = 0;

  async function one(due) {
    const call = { due, latency: Infinity, failed: false };
    calls.push(call);
    open += 1;
    try {
      const value = await get(`${prefix}${Math.floor(random() * keys)}`, origin.load);
      call.failed = value?.id !== VALUES['200 B'].id;
    } catch {
      call.failed = true;
    }
    call.latency = now() - due;
    open -= 1;
  }

  await until(at);
  const end = at + ms;
  for (let due = at; due < end; due += (-Math.log(1 - random()) * 1_000) / rate) {
    const early = due - now();
    if (early > 0) await sleep(Math.ceil(early));
    void one(due);
  }
  while (open > 0 && now() < end + graceMs) await sleep(5);
  return {
    due: Float64Array.from(calls, ({ due }) => due),
    latencies: Float64Array.from(calls, ({ latency }) => latency),
    failed: Uint8Array.from(calls, ({ failed }) => Number(failed)),
    spans: origin.all,
  };
}
