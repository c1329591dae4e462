import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { field } from './support/field.js';

const here = field();

@Injectable()
class Posts {
  readonly loaded: object[] = [];

  @Cached()
  async find(query: object): Promise<object> {
    this.loaded.push(query);
    return query;
  }
}

const depth5 = (status: string) => ({ a: { b: { c: { d: { status } } } } });
const inArray = (status: string) => ({ any: [{ tag: 'x' }, { status }] });

const QUERIES: readonly object[] = [
  { page: 1, filter: { status: 'draft' } },
  { page: 1, filter: { status: 'published' } },
  depth5('draft'),
  depth5('published'),
  inArray('draft'),
  inArray('published'),
  { page: 1 },
  { page: 1, filter: {} },
  { page: 1, filter: [] },
];

describe('FC-023: queries that differ only in nested fields', () => {
  it('each load for themselves and get their own result, cold and warm, in two applications', async () => {
    const [one, two] = [await here.app({ providers: [Posts] }), await here.app({ providers: [Posts] })];
    for (const app of [one, two]) {
      for (const query of QUERIES) expect(await app.get(Posts).find(query)).toEqual(query);
    }
    expect(one.get(Posts).loaded).toHaveLength(QUERIES.length);
    expect(two.get(Posts).loaded).toEqual([]);
    expect(await here.entries()).toHaveLength(QUERIES.length);
    const keys = QUERIES.map((query) => one.cache.of(Posts, 'find').key(query));
    expect(new Set(keys).size).toBe(QUERIES.length);
  });

  it('share an entry when only the order of their fields differs', async () => {
    const app = await here.app({ providers: [Posts] });
    await app.get(Posts).find({ page: 1, filter: { status: 'draft', author: 7 } });
    await app.get(Posts).find({ filter: { author: 7, status: 'draft' }, page: 1 });
    expect(app.get(Posts).loaded).toHaveLength(1);
  });
});
