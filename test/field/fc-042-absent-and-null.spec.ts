import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { field } from './support/field.js';

const here = field();

@Injectable()
class Lists {
  readonly loaded: unknown[][] = [];

  @Cached()
  async m(...args: unknown[]): Promise<unknown[]> {
    this.loaded.push(args);
    return args;
  }

  @Cached()
  async top(limit = 10): Promise<number> {
    return limit;
  }
}

/** One line each: argument lists that may share an entry, because they mean the same. */
const GROUPS: readonly (readonly unknown[][])[] = [
  [[], [undefined]],
  [[null]],
  [['undefined']],
  [['null']],
  [['']],
  [[{ order: undefined }], [{}]],
  [[{ order: null }]],
  [[[]]],
  [[[undefined]]],
  [[undefined, 1]],
  [[null, 1]],
];

describe('FC-042: absent, undefined, null and their names as arguments', () => {
  it('have an entry of their own each; absent and undefined are one, as documented', async () => {
    const lists = await here.app({ providers: [Lists] }).then((app) => app.get(Lists));
    const calls = GROUPS.flatMap((group, index) => group.map((args) => ({ index, args })));
    const answers = new Map<string, number>();
    for (const { index, args } of calls) {
      const answer = await lists.m(...args);
      // What came back was loaded for one of the same group.
      const seen = answers.get(JSON.stringify([answer, typeof answer[0], answer.length])) ?? index;
      expect(seen).toBe(index);
      answers.set(JSON.stringify([answer, typeof answer[0], answer.length]), index);
    }
    expect(lists.loaded).toHaveLength(GROUPS.length);
    expect(await here.entries()).toHaveLength(GROUPS.length);
  });

  it('give the right value where a default stands in for the absent one', async () => {
    const lists = await here.app({ providers: [Lists] }).then((app) => app.get(Lists));
    for (const _ of ['cold', 'warm']) {
      expect(await lists.top()).toBe(10);
      expect(await lists.top(10)).toBe(10);
      expect(await lists.top(20)).toBe(20);
      expect(await lists.top(undefined)).toBe(10);
    }
  });
});
