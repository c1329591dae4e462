import { field } from './support/field.js';

const here = field();

const NAMESPACES = ['app[12]', 'a*b?', 'app\\', '*', '[^x]', 'app|$(x)'];
const FOREIGN = ['app1:x', 'app2:x', "app1:d:{:'k'}", 'aZZbQ:x', "aZZbQ:d:{:'k'}", 'x', "app:d:{:'k'}"];

describe('FC-045: glob characters', () => {
  it.each(NAMESPACES)('in a namespace mean nothing: clear of %j', async (namespace) => {
    // Those a pattern made of the namespace would find.
    const names = ['app1', 'aZZbQ', 'y'];
    const mine = await here.app({ cache: { namespace } });
    const others = await Promise.all(names.map((name) => here.app({ cache: { namespace: name } })));
    for (const { cache } of [mine, ...others]) {
      await cache.set('k', 'v', { tags: ['t'] });
      await cache.set('l', 'v', { tags: ['t'] });
    }
    await Promise.all(FOREIGN.map((key) => here.raw.set(key, 'foreign', 'NX')));
    const there = await here.raw.exists(...FOREIGN);
    await mine.cache.invalidate('l');
    await mine.cache.invalidateTags('t');
    expect(await mine.cache.get('k')).toBeUndefined();
    await mine.cache.set('k', 'v');
    await mine.cache.clear();
    expect(await mine.cache.get('k')).toBeUndefined();
    for (const { cache } of others) {
      expect([await cache.get('k'), await cache.get('l')]).toEqual(['v', 'v']);
    }
    expect(await here.raw.exists(...FOREIGN)).toBe(there);
  });

  const KEYS = ['u:*', 'u:?', 'u:[12]', 'u:1', 'u:12', 'u:\\*', '*', 'u:'];

  it.each(KEYS)('in a key mean nothing: invalidate(%j) drops that one entry', async (key) => {
    const { cache } = await here.app();
    for (const each of KEYS) await cache.set(each, each);
    await cache.invalidate(key);
    const left = await Promise.all(KEYS.map((each) => cache.get(each)));
    expect(left).toEqual(KEYS.map((each) => (each === key ? undefined : each)));
    expect(await here.entries()).toHaveLength(KEYS.length - 1);
  });

  it.each(KEYS)('in a tag mean nothing: invalidateTags(%j) drops what carries that one', async (tag) => {
    const [one, two] = [await here.app(), await here.app()];
    for (const each of KEYS) await one.cache.set(each, each, { tags: [each] });
    await one.cache.set('untagged', 'untagged');
    await one.cache.invalidateTags(tag);
    for (const { cache } of [one, two]) {
      const left = await Promise.all(KEYS.map((each) => cache.get(each)));
      expect(left).toEqual(KEYS.map((each) => (each === tag ? undefined : each)));
      expect(await cache.get('untagged')).toBe('untagged');
    }
  });
});
