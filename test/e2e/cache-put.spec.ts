import { Injectable } from '@nestjs/common';
import { Cached, CachePut, StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { deferred } from '../support/deferred.js';
import { boot, Lines } from './kit.js';

type RootOptions = Parameters<typeof StampedeCacheModule.forRoot>[0];
const root = (options: RootOptions = {}) =>
  StampedeCacheModule.forRoot({ policy: { ttl: '60s' }, ...options });

interface Product {
  readonly id: number;
  readonly name: string;
}

function shop() {
  @Injectable()
  class Shop {
    runs = 0;
    next: () => unknown = () => undefined;
    @Cached({ isNegative: (found) => found.name === '' })
    async find(id: number): Promise<Product> {
      this.runs += 1;
      return { id, name: `found ${this.runs}` };
    }
    @CachePut({ of: 'find', args: (result, id) => [result.id === id ? id : -1] })
    async rename(id: number, name: string): Promise<Product> {
      if (name === 'no') throw new Error('no');
      return { id, name };
    }
    @CachePut({ of: () => [Shop, 'find'], args: (_result, id) => [id] })
    async odd(_id: number): Promise<Product> {
      return this.next() as Product;
    }
  }
  return Shop;
}

describe('@CachePut', () => {
  it('replaces the entry by what the method resolved to, and returns it', async () => {
    const Shop = shop();
    const it = (await boot({ imports: [root()], providers: [Shop] })).get(Shop);
    await it.find(1);
    expect(await it.rename(1, 'new')).toEqual({ id: 1, name: 'new' });
    expect([await it.find(1), await it.find(1), it.runs]).toEqual([
      { id: 1, name: 'new' },
      { id: 1, name: 'new' },
      1,
    ]);
    await it.rename(2, 'made');
    expect([await it.find(2), it.runs]).toEqual([{ id: 2, name: 'made' }, 1]);
  });

  it('leaves the entry where the method fails', async () => {
    const Shop = shop();
    const it = (await boot({ imports: [root()], providers: [Shop] })).get(Shop);
    const found = await it.find(1);
    await expect(it.rename(1, 'no')).rejects.toThrow('no');
    expect(await it.find(1)).toEqual(found);
  });

  it('stores a copy: what its caller does to the result changes no entry', async () => {
    const Shop = shop();
    const it = (await boot({ imports: [root()], providers: [Shop] })).get(Shop);
    const mine = (await it.rename(1, 'new')) as { name: string };
    mine.name = 'mine';
    expect(await it.find(1)).toEqual({ id: 1, name: 'new' });
  });

  it('revokes a load under way', async () => {
    const [began, gate] = [deferred(), deferred()];
    @Injectable()
    class Slow {
      @Cached()
      async find(_id: number) {
        began.resolve();
        await gate.promise;
        return 'loaded';
      }
      @CachePut({ of: 'find', args: (_result, id) => [id] })
      async update(_id: number) {
        return 'put';
      }
    }
    const it = (await boot({ imports: [root()], providers: [Slow] })).get(Slow);
    const loading = it.find(1);
    await began.promise;
    await it.update(1);
    gate.resolve();
    await loading;
    expect(await it.find(1)).toBe('put');
  });

  it('of a result that can not be stored drops the old entry, returns the result, and says so once', async () => {
    const Shop = shop();
    const lines = new Lines();
    const it = (await boot({ imports: [root()], providers: [Shop] }, lines)).get(Shop);
    await it.find(1);
    const odd = { id: 1, name: 'a', extra: () => 5 };
    it.next = () => odd;
    expect([await it.odd(1), await it.odd(1)]).toEqual([odd, odd]);
    expect(lines.ofCache('warn')).toEqual([
      expect.stringMatching(
        /@CachePut on Shop\.odd: .*extra.*function.*The entry was dropped, and the method's result is returned/,
      ),
    ]);
    expect(await it.find(1)).toEqual({ id: 1, name: 'found 2' });
  });

  it("goes by the target's policy: what its cacheIf or ttl refuse is dropped, what is negative lives as such", async () => {
    @Injectable()
    class Strict {
      runs = 0;
      @Cached({ cacheIf: (value) => value !== 'secret' })
      async find(_id: number) {
        return `run ${(this.runs += 1)}`;
      }
      @CachePut({ of: 'find', args: (_result, id) => [id] })
      async update(_id: number, value: string) {
        return value;
      }
    }
    const it = (await boot({ imports: [root()], providers: [Strict] })).get(Strict);
    await it.find(1);
    expect(await it.update(1, 'secret')).toBe('secret');
    expect(await it.find(1)).toBe('run 2');
    const Shop = shop();
    const app = await boot({ imports: [root()], providers: [Shop] });
    await app.get(Shop).rename(1, '');
    expect(await app.get(StampedeCacheService).of(Shop, 'find').inspect(1)).toMatchObject({ negative: true });
  });

  it('happens with bypass, and never for a vary that is undefined', async () => {
    const Shop = shop();
    let tenant: string | undefined = 'a';
    let bypassed = true;
    const app = await boot({
      imports: [root({ vary: () => tenant, bypass: () => bypassed })],
      providers: [Shop],
    });
    const it = app.get(Shop);
    await it.rename(1, 'of a');
    bypassed = false;
    expect(await it.find(1)).toEqual({ id: 1, name: 'of a' });
    tenant = undefined;
    await expect(it.rename(1, 'new')).rejects.toThrow(/Shop\.find: vary\(\) returned undefined/);
    tenant = 'b';
    expect(await it.find(1)).toEqual({ id: 1, name: 'found 1' });
  });
});
