import { Injectable } from '@nestjs/common';
import {
  Cached,
  ConfigurationError,
  isStampedeCacheError,
  parseDuration,
  StampedeCacheModule,
  StampedeCacheService,
  UncacheableArgumentError,
  UncacheableValueError,
} from 'nestjs-stampede-cache';
import { deferred } from '../support/deferred.js';
import { boot } from './kit.js';

type RootOptions = Parameters<typeof StampedeCacheModule.forRoot>[0];
async function service(options: RootOptions = { policy: { ttl: '60s', jitter: 0 } }) {
  const app = await boot({ imports: [StampedeCacheModule.forRoot(options)] });
  return app.get(StampedeCacheService);
}

describe('StampedeCacheService', () => {
  it('loads once however many ask, and says how each answer came', async () => {
    const cache = await service();
    const gate = deferred<number>();
    const load = jest.fn(() => gate.promise);
    const first = cache.getOrLoadEntry('k', load);
    const second = cache.getOrLoadEntry('k', load);
    gate.resolve(5);
    expect([await first, await second]).toEqual([
      { value: 5, outcome: 'loaded', age: expect.any(Number), staleFor: 0 },
      { value: 5, outcome: 'joined', age: expect.any(Number), staleFor: 0 },
    ]);
    expect(await cache.getOrLoadEntry('k', load)).toMatchObject({ value: 5, outcome: 'fresh', staleFor: 0 });
    expect(load).toHaveBeenCalledTimes(1);
    expect(cache.stats()).toMatchObject({
      outcomes: { loaded: 1, joined: 1, fresh: 1 },
      loads: { started: 1, succeeded: 1, failed: 0 },
      active: { flights: 0, callers: 0 },
    });
  });

  it("hands the key's parts to the policy's functions, and takes loads that are synchronous", async () => {
    const cache = await service();
    const ttl = jest.fn(() => '5s' as const);
    expect(await cache.getOrLoad(['product', 7], () => ({ price: 3 }), { ttl })).toEqual({ price: 3 });
    expect(ttl).toHaveBeenCalledWith({ price: 3 }, 'product', 7);
    expect((await cache.inspect(['product', 7]))?.freshFor).toBeLessThanOrEqual(5_000);
    await cache.getOrLoad('one', () => 1, { ttl });
    expect(ttl).toHaveBeenLastCalledWith(1, 'one');
  });

  it("knows 'a' from ['a'], and its keys from those of methods", async () => {
    const cache = await service();
    await cache.set('a', 1);
    await cache.set(['a'], 2);
    expect([await cache.get('a'), await cache.get(['a'])]).toEqual([1, 2]);
  });

  it('tells undefined from absent by getEntry', async () => {
    const cache = await service();
    await cache.set('nothing', undefined);
    expect([await cache.get('nothing'), await cache.get('absent')]).toEqual([undefined, undefined]);
    expect(await cache.getEntry('nothing')).toMatchObject({ value: undefined, outcome: 'negative' });
    expect(await cache.getEntry('absent')).toBeUndefined();
  });

  it('gets fresh values only; getEntry shows stale ones too', async () => {
    const cache = await service({ policy: { ttl: '60s', stale: '1h', jitter: 0 } });
    const past = { ttl: 1, stale: '1h', jitter: 0 } as const;
    await cache.set('k', 5, past);
    let entry = await cache.getEntry('k');
    while (entry?.outcome === 'fresh') entry = await cache.getEntry('k');
    expect(entry).toMatchObject({ value: 5, outcome: 'stale' });
    expect(await cache.get('k')).toBeUndefined();
    expect(await cache.inspect('k')).toMatchObject({ state: 'stale' });
  });

  it('reads, replaces, drops and inspects without any module-wide ttl', async () => {
    const cache = await service({});
    expect(await cache.get('k')).toBeUndefined();
    expect(await cache.inspect('k')).toBeNull();
    await cache.invalidate('k', 'other');
    await expect(cache.set('k', 1)).rejects.toThrow(/ttl is missing/);
    await expect(cache.getOrLoad('k', () => 1)).rejects.toThrow(ConfigurationError);
    await cache.set('k', 1, { ttl: '60s' });
    expect(await cache.get('k')).toBe(1);
    expect(await cache.inspect('k')).toMatchObject({ key: ":'k'", state: 'fresh', negative: false });
    await cache.invalidate('k');
    expect(await cache.get('k')).toBeUndefined();
  });

  it('restores instances where the policy names their class', async () => {
    class Money {
      constructor(readonly cents: number) {}
    }
    const cache = await service();
    const policy = { ttl: '60s', type: Money } as const;
    await cache.set('k', new Money(5), policy);
    expect(await cache.get('k', policy)).toEqual(new Money(5));
    expect(await cache.get('k', policy)).toBeInstanceOf(Money);
    await expect(cache.set('k', new Money(5))).rejects.toThrow(UncacheableValueError);
    expect(await cache.get('k', policy)).toBeUndefined();
  });

  it('replaces a load under way when a value is set, and revokes it when the key is invalidated', async () => {
    const cache = await service();
    const gate = deferred<string>();
    const loading = cache.getOrLoad('k', () => gate.promise);
    await cache.set('k', 'set');
    gate.resolve('loaded');
    await loading;
    expect(await cache.get('k')).toBe('set');
  });

  it.each<[string, (cache: StampedeCacheService) => Promise<unknown>, RegExp]>([
    ['a policy', (cache) => cache.getOrLoad('k', () => 1, { ttl: 'x' as '1s' }), /ttl.*'x'/],
    ['a policy option', (cache) => cache.getOrLoad('k', () => 1, { tll: 1 } as never), /'tll'/],
    ['tags', (cache) => cache.set('k', 1, { ttl: '1s', tags: 'a' } as never), /tags.*'a'/],
    [
      'a call option',
      (cache) => cache.getOrLoad('k', () => 1, { ttl: '1s' }, { frsh: 1 } as never),
      /'frsh'/,
    ],
    ['a loader', (cache) => cache.getOrLoad('k', 5 as never), /a function that loads the value, received 5/],
  ])('refuses %s it can not work with', async (_, act, message) => {
    const error: unknown = await act(await service({})).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(isStampedeCacheError(error)).toBe(true);
    expect((error as Error).message).toMatch(message);
  });

  it('refuses a key that has no text', async () => {
    const cache = await service();
    await expect(cache.getOrLoad([1, () => 1], () => 1)).rejects.toThrow(UncacheableArgumentError);
    await expect(cache.get(Symbol('x') as never)).rejects.toThrow(UncacheableArgumentError);
  });

  it('lets one caller go when its signal aborts, and not the others', async () => {
    const cache = await service();
    const gate = deferred<number>();
    const abort = new AbortController();
    const one = cache.getOrLoad('k', () => gate.promise, undefined, { signal: abort.signal });
    const two = cache.getOrLoad('k', () => gate.promise);
    abort.abort(new Error('gone'));
    await expect(one).rejects.toThrow('gone');
    gate.resolve(5);
    expect(await two).toBe(5);
  });

  it('varies by what its caller says', async () => {
    const cache = await service({ policy: { ttl: '60s' }, vary: () => 'main' });
    await cache.set('k', 'main');
    await cache.with({ vary: 'other' }, async () => {
      expect(await cache.get('k')).toBeUndefined();
      await cache.set('k', 'other');
    });
    await cache.with({ vary: false }, async () => expect(await cache.get('k')).toBeUndefined());
    expect(await cache.get('k')).toBe('main');
    await cache.invalidate('k');
    expect(await cache.with({ vary: 'other' }, () => cache.get('k'))).toBe('other');
  });

  it('has numbers for durations of the environment', () => {
    expect(parseDuration('1.5s')).toBe(1_500);
    expect(() => parseDuration('soon')).toThrow(ConfigurationError);
  });
});

describe('of()', () => {
  @Injectable()
  class Products {
    tenant = 'a';
    @Cached({
      ttl: '60s',
      key(id) {
        return [this.tenant, id];
      },
    })
    async find(id: number) {
      return { id };
    }
    @Cached({ ttl: '60s' })
    protected async hidden(id: number, language: string) {
      return `${id} ${language}`;
    }
    async plain() {
      return 1;
    }
    show(id: number, language: string) {
      return this.hidden(id, language);
    }
  }

  it('shares keys with the method, by class and by instance', async () => {
    const app = await boot({ imports: [StampedeCacheModule.forRoot()], providers: [Products] });
    const [cache, products] = [app.get(StampedeCacheService), app.get(Products)];
    await products.find(1);
    for (const host of [Products, products]) {
      const handle = cache.of(host, 'find');
      expect(handle.key(1)).toBe("Products.find:['a',1]");
      expect(await handle.get(1)).toEqual({ id: 1 });
      expect(await handle.inspect(1)).toMatchObject({ state: 'fresh' });
      expect(await handle.get(2)).toBeUndefined();
    }
    await products.show(1, 'de');
    expect(await cache.of<[number, string], string>(Products, 'hidden').get(1, 'de')).toBe('1 de');
  });

  it('refuses what is not cached, and what is no class', async () => {
    const app = await boot({ imports: [StampedeCacheModule.forRoot()], providers: [Products] });
    const cache = app.get(StampedeCacheService);
    expect(() => cache.of(Products, 'plain')).toThrow(/Products\.plain is not @Cached/);
    expect(() => cache.of(Products, 'typo' as 'find')).toThrow(/Products\.typo is not @Cached/);
    expect(() => cache.of(undefined as never, 'find' as never)).toThrow(ConfigurationError);
    expect(() => cache.of((() => 1) as never, 'find' as never)).toThrow(ConfigurationError);
  });

  it('follows a base class to the one class that extends it', async () => {
    abstract class Base {
      @Cached({ ttl: '60s' })
      async find(id: number) {
        return id;
      }
    }
    @Injectable()
    class Users extends Base {}
    const app = await boot({ imports: [StampedeCacheModule.forRoot()], providers: [Users] });
    await app.get(Users).find(1);
    expect(await app.get(StampedeCacheService).of(Base, 'find').get(1)).toBe(1);
  });
});
