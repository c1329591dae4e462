import { isDeepStrictEqual } from 'node:util';
import { SteadyLoad } from './steady-load.js';

/** How long a cache may take to heal after its servers did, ms. */
const HEALS_WITHIN = 5000;

/** A test under the load of one process for each connection. Callers never see an error, and no key loads twice at once. */
export async function underLoad(
  connections: readonly unknown[],
  run: (load: SteadyLoad) => Promise<void>,
): Promise<void> {
  const load = await SteadyLoad.begin(connections);
  try {
    await run(load);
    expect(load.errors).toEqual([]);
    expect(load.peak).toBe(1);
  } finally {
    await load.end();
  }
}

/**
 * From `healed` on, which the servers themselves tell, Redis answers soon, and a key is loaded once in the fleet again: every
 * key is dropped, and none is loaded twice. A process that starves for a moment may still answer itself, so the fleet has
 * until the end of its time.
 */
export async function expectHealed(load: SteadyLoad, healed = performance.now()): Promise<void> {
  const once = load.keys.map(() => 1);
  expect(await load.hitsSince(healed)).toBeLessThan(HEALS_WITHIN);
  for (;;) {
    const whole = performance.now();
    const loads = await load.loadsAfterInvalidation();
    const late = performance.now() - healed >= HEALS_WITHIN;
    // Nothing came on top of those, either.
    if (isDeepStrictEqual([loads, load.loadsSince(whole)], [once, once])) return;
    if (late) return expect({ loads, of: load.states() }).toEqual({ loads: once, of: [] });
  }
}

/** Tags and `clear` reach every process. */
export async function expectChangesWork({ first, last }: SteadyLoad): Promise<void> {
  const policy = { ttl: '1h', tags: ['tagged'] } as const;
  const ask = async (client: typeof first, key: string, value: number) =>
    (await client.entry(key, () => value, policy)).value;
  await first.set('tag', 1, policy);
  await first.set('rest', 1, { ttl: '1h' });
  expect(await ask(last, 'tag', 2)).toBe(1);
  await first.cache.changes.invalidateTags(['tagged']);
  expect(await ask(first, 'tag', 3)).toBe(3);
  await last.cache.changes.clear();
  expect((await last.entry('rest', () => 4, { ttl: '1h' })).value).toBe(4);
}
