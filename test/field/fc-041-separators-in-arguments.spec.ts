import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { field, NAMESPACE } from './support/field.js';

const here = field();

@Injectable()
class Echo {
  loads = 0;

  @Cached()
  async m(...args: unknown[]): Promise<unknown[]> {
    this.loads += 1;
    return args;
  }
}

const SEPARATORS = [':', '|', '\0', '{', '}', '{}', '\n', ',', "','", '/', '#', '%', '\\', '"'];
const listsWith = (s: string): unknown[][] => [
  [`a${s}b`, 'c'],
  ['a', `b${s}c`],
  [`a${s}b${s}c`],
  [['a', 'b'], 'c'],
  ['a', 'b', 'c'],
];

describe('FC-041: separators inside arguments', () => {
  it.each(SEPARATORS)(
    '%j makes no two argument lists equal: 5 lists, 5 loads, 5 entries',
    async (separator) => {
      const app = await here.app({ providers: [Echo] });
      const echo = app.get(Echo);
      for (const _ of ['cold', 'warm']) {
        for (const args of listsWith(separator)) expect(await echo.m(...args)).toEqual(args);
      }
      expect(echo.loads).toBe(5);
      const entries = await here.entries();
      expect(entries).toHaveLength(5);
      // The only braces are those of the hash tag, around the whole key: arguments do not choose the cluster slot.
      for (const entry of entries) expect(entry).toMatch(new RegExp(`^${NAMESPACE}:d:\\{[!-z|~]+\\}$`));
    },
  );

  it('nor do they by hand: one part, a list of one, and lists that read alike are different keys', async () => {
    const { cache } = await here.app();
    const keys = ['a:b', ['a', 'b'], ['a:b'], [['a', 'b']], ['a', ['b']], ['a', 'b', ''], 'a', ['a']];
    for (const [index, key] of keys.entries()) await cache.set(key, index);
    for (const [index, key] of keys.entries()) expect(await cache.get(key)).toBe(index);
  });
});
