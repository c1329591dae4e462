import { until } from '../support/until.js';
import { errorOf, untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

/** 1 s and 3 s in the field. */
const TTL = 150;
const STALE = 600;

describe.each([
  ['stale', { ttl: TTL, stale: STALE, failureBackoff: 20 }],
  ['staleIfError', { ttl: TTL, stale: 0, staleIfError: STALE, failureBackoff: 20 }],
] as const)('FC-029: a source that fails, behind a window of %s', (_, policy) => {
  it('is stood in for until the window ends, and not longer: failures do not move its end', async () => {
    const { cache } = await here.app();
    const down = () => Promise.reject(new Error('down'));
    const read = () => cache.getOrLoad<string>('k', down, policy);
    await cache.getOrLoad('k', () => 'v1', policy);
    const name = await here.entry();
    // No earlier than its end: the machine may pause between Redis' answer and the clock. Below no later, for the same reason.
    const first = await here.raw.pttl(name);
    const end = performance.now() + first;
    expect(await here.raw.pttl(name)).toBeLessThanOrEqual(TTL + STALE);
    await untilStale(() => cache.inspect('k'));

    let served = 0;
    // Whenever the entry is still there after an answer, it was there before: the answer must be the old value.
    for (;;) {
      const answer = await read().catch((error: Error) => error);
      const asked = performance.now();
      const left = await here.raw.pttl(name);
      // The application's idea of the server's clock may be this much ahead.
      if (left <= 25) break;
      expect(answer).toBe('v1');
      served += 1;
      expect(asked + left).toBeLessThan(end + 50);
    }
    expect(served).toBeGreaterThan(5);

    await until(async () => (await here.raw.exists(name)) === 0);
    expect((await errorOf(read())).message).toBe('down');
    expect(await here.entries()).toEqual([]);
  });
});
