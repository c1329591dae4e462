import { createHash, randomBytes } from 'node:crypto';
import { Origin } from '../support/origin.js';
import { times, untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

const KB = 1_024;
const MB = 1_024 * KB;
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('FC-120: large binary values', () => {
  it.each([
    ['64 KB - 1', 64 * KB - 1, 50],
    ['64 KB', 64 * KB, 50],
    ['64 KB + 1', 64 * KB + 1, 50],
    // 50 readers of more would be a test of this machine's memory.
    ['1 MB', MB, 8],
    ['16 MB', 16 * MB, 2],
  ])(
    '%s come back byte by byte on miss, hit and stale hit, for many readers',
    async (_, size, readers) => {
      const apps = await times(2, () => here.app({ cache: { maxValueBytes: 32 * MB, redisTimeout: '10s' } }));
      const [one, two] = [apps[0]!.cache, apps[1]!.cache];
      const bytes = randomBytes(size);
      const digest = sha256(bytes);
      const policy = { ttl: '1m', stale: '1m' } as const;
      expect(sha256(await one.getOrLoad('k', () => bytes, policy))).toBe(digest);
      const never = () => Promise.reject(new Error('loaded again'));
      const hits = await times(readers, (i) => (i % 2 ? one : two).getOrLoad<Buffer>('k', never, policy));
      expect(new Set(hits.map(sha256))).toEqual(new Set([digest]));

      const short = { ttl: 100, stale: '1m' } as const;
      await one.getOrLoad('short', () => bytes, short);
      await untilStale(() => one.inspect('short'));
      const origin = new Origin();
      const stale = await times(readers, () => two.getOrLoadEntry('short', origin.load, short));
      expect(new Set(stale.map(({ outcome }) => outcome))).toEqual(new Set(['stale']));
      expect(new Set(stale.map(({ value }) => sha256(value as Buffer)))).toEqual(new Set([digest]));
      await origin.give(0);
    },
    20_000,
  );

  it('texts come back as they were: emoji, lone surrogates, all of the first 64 K code units', async () => {
    const { cache } = await here.app();
    const units = Array.from({ length: 65_536 }, (_, unit) => String.fromCharCode(unit));
    const texts = ['👩‍👩‍👧 ok', '\ud800', '\udc00\ud800', 'a\udfffb', units.join(''), units.reverse().join('')];
    await cache.getOrLoad('k', () => texts);
    const hit = await cache.getOrLoad('k', () => ['loaded again']);
    expect(hit.map((text, index) => text === texts[index])).toEqual(texts.map(() => true));
  });

  it('different lone surrogates in keys are different keys', async () => {
    const { cache } = await here.app();
    const keys = ['\ud800', '\ud801', '\udc00', '\ufffd', '\ud800\udc00', '\udc00\ud800'];
    for (const [index, key] of keys.entries()) await cache.set(key, index);
    for (const [index, key] of keys.entries()) expect(await cache.get(key)).toBe(index);
  });
});
