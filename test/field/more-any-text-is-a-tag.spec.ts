import { ConfigurationError } from 'nestjs-stampede-cache';
import { until } from '../support/until.js';
import { field } from './support/field.js';

const here = field();

/** All different, however a separator, an escape or a hash might join them. */
const TAGS = [
  'a',
  'A',
  'a ',
  'a,b',
  'b',
  'a~b',
  'a%2Cb',
  'a%252Cb',
  'a:b',
  'a::b',
  '0',
  'ä',
  'a\u0308',
  'ß',
  'SS',
  '日本語',
  '👩‍👩‍👧',
  '\u0000',
  '\n',
  'a\r\nb',
  ' ',
  '__proto__',
  'constructor',
  '*',
  '#a',
  'x'.repeat(99),
  'x'.repeat(100),
  'x'.repeat(101),
  `${'x'.repeat(5_000)}1`,
  `${'x'.repeat(5_000)}2`,
  '\ud800',
  '\ud801',
];

describe('Tags', () => {
  it('are any text, and never mean one another', async () => {
    const [one, two] = [await here.app(), await here.app()];
    for (const [at, tag] of TAGS.entries()) {
      await (at % 2
        ? one.cache.set(at, at, { tags: [tag] })
        : two.cache.getOrLoad(at, () => at, { tags: [tag] }));
    }
    for (const [at, tag] of TAGS.entries()) {
      for (const { cache } of [one, two]) expect([tag, await cache.get(at)]).toEqual([tag, at]);
      await one.cache.invalidateTags(tag);
      expect([tag, await one.cache.get(at)]).toEqual([tag, undefined]);
      const others = await Promise.all(TAGS.map((_, other) => one.cache.get(other)));
      expect(others.filter((value) => value !== undefined)).toHaveLength(TAGS.length - at - 1);
    }
  });

  it('may be many on one entry, in any order and more than once: any one of them ends it', async () => {
    const { cache } = await here.app();
    for (const tag of ['a', 'b', 'c']) {
      await cache.getOrLoad('k', () => 1, { tags: ['c', 'a', 'b', 'a'], valueTags: () => ['a', 'd'] });
      // The tags that the value told of cost one more question before it is stored.
      await until(async () => (await cache.inspect('k'))?.state === 'fresh', { what: 'the entry' });
      expect([...((await cache.inspect('k'))?.tags ?? [])].sort()).toEqual(['a', 'b', 'c', 'd']);
      await cache.invalidateTags(tag);
      expect(await cache.get('k')).toBeUndefined();
    }
  });

  it('of an entry are those it was stored with: a reader need not name them, and its own do not count', async () => {
    const { cache } = await here.app();
    await cache.set('k', 1, { tags: ['stored'] });
    for (const tags of [undefined, [], ['other'], ['stored', 'other']]) {
      expect(await cache.getOrLoad('k', () => 2, { tags })).toBe(1);
    }
    await cache.invalidateTags('other');
    expect(await cache.get('k')).toBe(1);
    // Replaced without it, the entry is out of the tag's reach.
    await cache.set('k', 3);
    await cache.invalidateTags('stored');
    expect(await cache.get('k')).toBe(3);
  });

  it('reach "not found" too: what is created afterwards is found', async () => {
    const [one, two] = [await here.app(), await here.app()];
    let row: string | null = null;
    const policy = { tags: ['users'], negativeTtl: '1m' } as const;
    const find = (cache: typeof one.cache) => cache.getOrLoad<string | null>('k', () => row, policy);
    expect([await find(one.cache), await find(two.cache)]).toEqual([null, null]);
    row = 'created';
    expect(await find(one.cache)).toBeNull();
    await one.cache.invalidateTags('users');
    expect(await find(one.cache)).toBe('created');
    expect(await find(two.cache)).toBe('created');
  });

  it.each([[['']], [[5]], ['text'], [[undefined]], [Array.from({ length: 17 }, (_, i) => `t${i}`)]])(
    'that are none are refused, with what was given: %j',
    async (tags) => {
      const { cache } = await here.app();
      const error: unknown = await cache
        .getOrLoad('k', () => 1, { tags: tags as string[] })
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConfigurationError);
    },
  );
});
