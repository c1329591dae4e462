import { times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

/** As in the field: more than one page of SCAN. */
const TAGGED = 1_500;
/** Begin, end or look like the tag. */
const NEIGHBOURS = [
  'user:10',
  'superuser:1',
  'user:1 ',
  ' user:1',
  'User:1',
  'user:1*',
  'user:',
  'user:1:',
  'user%3A1',
];

describe('FC-069: an invalidation of the tag user:1', () => {
  it('ends exactly the 1,500 entries that carry it, in every process', async () => {
    const [one, two] = [await here.app(), await here.app()];
    await times(TAGGED, (i) => one.cache.set(['of', i], i, { tags: i % 2 ? ['user:1'] : ['x', 'user:1'] }));
    for (const tag of NEIGHBOURS) await one.cache.set(['beside', tag], tag, { tags: [tag] });
    await one.cache.set('user:1', 'a key of that text', { tags: ['x'] });

    await one.cache.invalidateTags('user:1');
    for (const { cache } of [one, two]) {
      const left = await times(TAGGED, (i) => cache.get(['of', i]));
      expect(left.filter((value) => value !== undefined)).toEqual([]);
      const beside = await Promise.all(NEIGHBOURS.map((tag) => cache.get(['beside', tag])));
      expect(beside).toEqual(NEIGHBOURS);
      expect(await cache.get('user:1')).toBe('a key of that text');
    }
    expect(one.cache.stats().storeFailures).toBe(0);
  });
});
