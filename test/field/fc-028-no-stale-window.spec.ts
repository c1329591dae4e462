import { errorOf, untilGone, untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

describe('FC-028: a stale window of 0', () => {
  it('never serves a value past its ttl: the caller waits for the new one, or gets the error', async () => {
    // 1 s in the field.
    const policy = { ttl: 200, stale: 0 };
    const { cache } = await here.app();
    await cache.getOrLoad('k', () => 'v1', policy);
    await untilGone(() => cache.inspect('k'));
    expect(await cache.getOrLoad('k', () => 'v2', policy)).toBe('v2');
    await untilGone(() => cache.inspect('k'));
    const error = await errorOf(cache.getOrLoad('k', () => Promise.reject(new Error('down')), policy));
    expect(error.message).toBe('down');
    expect(await cache.getEntry('k', policy)).toBeUndefined();
  });

  it('holds for every reader at every moment: none that begins after the ttl gets the old value', async () => {
    const policy = { ttl: 200, stale: 0 };
    const { cache } = await here.app();
    let version = 'v1';
    const load = () => version;
    await cache.getOrLoad('k', load, policy);
    const loaded = performance.now();
    version = 'v2';
    const answers: { began: number; value: string }[] = [];
    while (performance.now() - loaded < 400) {
      const began = performance.now() - loaded;
      answers.push({ began, value: await cache.getOrLoad('k', load, policy) });
    }
    expect(answers[0]?.value).toBe('v1');
    expect(answers.filter(({ began, value }) => began > policy.ttl && value === 'v1')).toEqual([]);
    expect(answers.at(-1)?.value).toBe('v2');
  });

  it("is the reader's own: what others keep for their stale windows is not served to it", async () => {
    const generous = { ttl: 60, stale: '1h' } as const;
    const strict = { ttl: 60, stale: 0 } as const;
    const { cache } = await here.app();
    await cache.getOrLoad('k', () => 'v1', generous);
    await untilStale(() => cache.inspect('k'));
    expect(await cache.getEntry('k', strict)).toBeUndefined();
    const error = await errorOf(cache.getOrLoad('k', () => Promise.reject(new Error('down')), strict));
    expect(error.message).toBe('down');
    expect(await cache.getOrLoad('k', () => 'v2', strict)).toBe('v2');
  });

  it('with a ttl of 0 stores nothing at all; callers at the same time still share a load', async () => {
    const policy = { ttl: 0, stale: 0 };
    const { cache } = await here.app();
    let loads = 0;
    const load = async () => (loads += 1);
    const together = await Promise.all([1, 2, 3].map(() => cache.getOrLoad('k', load, policy)));
    expect(together).toEqual([1, 1, 1]);
    expect(await here.entries()).toEqual([]);
    expect(await cache.getOrLoad('k', load, policy)).toBe(2);
    const error = await errorOf(cache.getOrLoad('k', () => Promise.reject(new Error('down')), policy));
    expect(error.message).toBe('down');
  });
});
