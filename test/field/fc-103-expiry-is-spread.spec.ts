import { times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

/** 10,000 in the field. */
const KEYS = 500;
const TTL = 60_000;

/** For how long each of the entries was made fresh when it was written, and what Redis then kept of that at most, ms. */
async function lives(jitter: number | '5s'): Promise<{ fresh: number[]; stored: number }> {
  const { cache } = await here.app({ cache: { loads: { queueTimeout: '30s' } } });
  await times(KEYS, (id) => cache.getOrLoad(id, () => id, { ttl: TTL, jitter }));
  const all = await times(KEYS, (id) => cache.inspect(id));
  const fresh = all.map((info) => (info?.age ?? NaN) + (info?.freshFor ?? NaN)).sort((a, b) => a - b);
  return { fresh, stored: Math.max(...all.map((info) => info?.storedFor ?? NaN)) };
}

describe('FC-103: keys that are written together', () => {
  it.each([
    [0.1, 6_000],
    ['5s', 5_000],
  ] as const)('do not expire together: jitter %p', async (jitter, width) => {
    const { fresh, stored } = await lives(jitter);
    const [shortest, longest] = [fresh[0]!, fresh.at(-1)!];
    expect(longest - shortest).toBeGreaterThan(width * 0.95);
    // It only shortens, and by no more than it may.
    expect(Math.max(longest, stored)).toBeLessThanOrEqual(TTL);
    expect(shortest).toBeGreaterThanOrEqual(TTL - width);
    // Evenly: each fifth of the stretch has about a fifth of the keys, give or take five standard deviations.
    for (const fifth of [0, 1, 2, 3, 4]) {
      const from = shortest + ((longest - shortest) * fifth) / 5;
      const share =
        fresh.filter((life) => life >= from && life < from + (longest - shortest) / 5).length / KEYS;
      expect(share).toBeGreaterThan(0.11);
      expect(share).toBeLessThan(0.29);
    }
  });

  it('live for exactly the ttl without jitter, as the control', async () => {
    const { fresh, stored } = await lives(0);
    expect([fresh[0], fresh.at(-1)]).toEqual([TTL, TTL]);
    expect(stored).toBeLessThanOrEqual(TTL);
  });
});
