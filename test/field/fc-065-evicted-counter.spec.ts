import type { App } from './support/app.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();

const TAG = `${NAMESPACE}:t:{t}`;
const POLICY = { ttl: '1h', stale: '1h', tags: ['t'] } as const;

/** What a process answers that has never seen the tag, and one that knows its whole story. */
async function answers(knowing: App): Promise<unknown[]> {
  const fresh = await here.app();
  return Promise.all([knowing, fresh].map(async ({ cache }) => (await cache.getEntry('k', POLICY))?.value));
}

describe('FC-065: a tag invalidated, then evicted', () => {
  it.each([1, 2, 3, 4, 5])('after %i invalidations does not revive its entries', async (times) => {
    const app = await here.app();
    await app.cache.set('k', 'old', POLICY);
    for (let i = 0; i < times; i++) await app.cache.invalidateTags('t');
    await here.raw.unlink(TAG);
    // It is still there, byte for byte.
    expect(await here.raw.get(await here.entry())).toContain('old');
    expect(await answers(app)).toEqual([undefined, undefined]);
    // As many invalidations again, or a tag made anew by another entry, lead to no number that was there before.
    for (let i = 0; i < times; i++) {
      await app.cache.invalidateTags('t');
      expect(await answers(app)).toEqual([undefined, undefined]);
    }
    await here.raw.unlink(TAG);
    await app.cache.set('other', 1, POLICY);
    expect(await answers(app)).toEqual([undefined, undefined]);
  });

  it('and made anew over and over never repeats itself, within one millisecond either', async () => {
    const app = await here.app();
    const records = new Set<string>();
    for (let i = 0; i < 300; i++) {
      await app.cache.set('k', i, POLICY);
      await here.raw.unlink(TAG);
      await Promise.all([app.cache.invalidateTags('t'), app.cache.set(['o', i], i, POLICY)]);
      records.add((await here.raw.get(TAG)) ?? '');
    }
    expect(records.size).toBe(300);
  });
});
