import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { field } from './support/field.js';

const here = field();
const SYMBOL = Symbol('a');

@Injectable()
class Numbers {
  @Cached()
  async a(): Promise<number> {
    return 1;
  }

  @Cached()
  async b(): Promise<number> {
    return 2;
  }
}

@Injectable()
class MoreNumbers extends Numbers {
  @Cached()
  override async b(): Promise<number> {
    return 20 + (await super.b());
  }
}

describe('FC-035: decorated methods without arguments on one instance', () => {
  it.each([
    ['a first', ['a', 'b'] as const],
    ['b first', ['b', 'a'] as const],
  ])('answer for themselves, cold and warm: %s', async (_, order) => {
    const app = await here.app({ providers: [Numbers] });
    const right = { a: 1, b: 2 };
    for (const method of [...order, ...order]) expect(await app.get(Numbers)[method]()).toBe(right[method]);
    expect(app.cache.stats().loads.started).toBe(2);
    expect(await here.entries()).toHaveLength(2);
  });

  it('are told apart from an inherited, an overridden and its own super method, too', async () => {
    const app = await here.app({ providers: [Numbers, MoreNumbers] });
    for (const _ of ['cold', 'warm']) {
      expect(await app.get(MoreNumbers).a()).toBe(1);
      expect(await app.get(MoreNumbers).b()).toBe(22);
      expect(await app.get(Numbers).b()).toBe(2);
    }
  });

  it('answer for themselves when they are called together, in one tick', async () => {
    const { a, b } = await here
      .app({ providers: [Numbers] })
      .then((app) => ({ a: app.get(Numbers).a(), b: app.get(Numbers).b() }));
    expect(await Promise.all([a, b])).toEqual([1, 2]);
  });

  it('are refused by name where a symbol has the name of a method', async () => {
    @Injectable()
    class Twins {
      @Cached()
      async a(): Promise<number> {
        return 1;
      }
      @Cached()
      async [SYMBOL](): Promise<number> {
        return 3;
      }
    }
    const error = await here.bootError(here.withCache({ providers: [Twins] }));
    expect(error).toMatchObject({ code: 'CONFIGURATION' });
    expect(error.message).toMatch(/Twins\.a.*Twins\.a.*name of its own/);
  });
});
