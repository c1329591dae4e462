import { Injectable } from '@nestjs/common';
import { Cached, CacheEvict, StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { deferred } from '../support/deferred.js';
import { Customers } from './circular/customers.js';
import { Orders } from './circular/orders.js';
import { boot } from './kit.js';

type RootOptions = Parameters<typeof StampedeCacheModule.forRoot>[0];
const root = (options: RootOptions = {}) =>
  StampedeCacheModule.forRoot({ policy: { ttl: '60s' }, ...options });

/** A shop whose every real look at a product is counted. */
function shop() {
  @Injectable()
  class Shop {
    readonly runs: string[] = [];
    failing = false;

    @Cached({ tags: (id) => [`product:${id}`, 'products'] })
    async find(id: number) {
      return { id, run: this.runs.push(`find ${id}`) };
    }
    @Cached({ tags: ['products'] })
    async all() {
      return { run: this.runs.push('all') };
    }
    @Cached()
    async other(id: number) {
      return { id, run: this.runs.push(`other ${id}`) };
    }

    @CacheEvict({ of: 'find', args: (_result, id) => [id] })
    async update(id: number, name: string) {
      if (this.failing) throw new Error('no');
      return { id, name };
    }
    @CacheEvict({ of: 'find' })
    async updateAll() {
      return 'done';
    }
    @CacheEvict({ of: 'find', when: 'before', args: (result, id) => [result ?? id] })
    async updateUnsure(id: number) {
      this.runs.push(`update ${id}`);
      throw new Error('perhaps');
    }
    @CacheEvict({ of: 'find', args: (result, _id) => [result.id] })
    @CacheEvict({ of: 'all' })
    async updateOfAnother(_id: number) {
      return { id: 7 };
    }
    @CacheEvict({ tags: ['products'] })
    async reprice() {
      return 1;
    }
    @CacheEvict({ tags: (result, id) => [`product:${id}`, result] })
    async retag(id: number) {
      return `product:${id + 1}`;
    }
    @CacheEvict({ of: 'other', args: (_result, id) => [id], tags: (_result, id) => [`product:${id}`] })
    async both(id: number) {
      return id;
    }
    @CacheEvict({ of: 'other', tags: ['products'] })
    async tagsInstead() {
      return 1;
    }

    /** What is in the cache: the runs that asking for it takes. */
    async missing() {
      const before = this.runs.length;
      await this.find(1);
      await this.find(2);
      await this.all();
      await this.other(1);
      return this.runs.slice(before);
    }
  }
  return Shop;
}

async function stocked(options?: RootOptions) {
  const Shop = shop();
  const app = await boot({ imports: [root(options)], providers: [Shop] });
  const it = app.get(Shop);
  await it.missing();
  expect(await it.missing()).toEqual([]);
  return { shop: it, Shop, cache: app.get(StampedeCacheService), app };
}

describe('@CacheEvict', () => {
  it('makes the entry of one call go, after the method succeeded, and returns what the method does', async () => {
    const { shop: it } = await stocked();
    expect(await it.update(1, 'new')).toEqual({ id: 1, name: 'new' });
    expect(await it.missing()).toEqual(['find 1']);
  });

  it('leaves the entry when the method fails, and rejects with its error', async () => {
    const { shop: it } = await stocked();
    it.failing = true;
    await expect(it.update(1, 'new')).rejects.toThrow('no');
    expect(await it.missing()).toEqual([]);
  });

  it('does nothing before the method has ended', async () => {
    const gate = deferred();
    let runs = 0;
    @Injectable()
    class Slow {
      @Cached()
      async find() {
        return (runs += 1);
      }
      @CacheEvict({ of: 'find', args: () => [] })
      async update() {
        await gate.promise;
      }
    }
    const it = (await boot({ imports: [root()], providers: [Slow] })).get(Slow);
    await it.find();
    const update = it.update();
    expect(await it.find()).toBe(1);
    gate.resolve();
    await update;
    expect(await it.find()).toBe(2);
  });

  it('makes all entries of the method go without args, and no others', async () => {
    const { shop: it } = await stocked();
    expect(await it.updateAll()).toBe('done');
    expect(await it.missing()).toEqual(['find 1', 'find 2']);
  });

  it("with 'before': also if the method then fails, with undefined as its result", async () => {
    const { shop: it } = await stocked();
    await expect(it.updateUnsure(1)).rejects.toThrow('perhaps');
    expect(await it.missing()).toEqual(['find 1']);
  });

  it('several on one method: each, by the result too', async () => {
    const { shop: it } = await stocked();
    await it.find(7);
    await it.updateOfAnother(1);
    expect(await it.missing()).toEqual(['all']);
    await it.find(7);
    expect(it.runs.at(-1)).toBe('find 7');
  });

  it('by tags alone, static or of the result', async () => {
    const { shop: it } = await stocked();
    await it.reprice();
    expect(await it.missing()).toEqual(['find 1', 'find 2', 'all']);
    await it.retag(1);
    expect(await it.missing()).toEqual(['find 1', 'find 2']);
  });

  it('by args and tags together; tags instead of all entries of the method', async () => {
    const { shop: it } = await stocked();
    await it.both(1);
    expect(await it.missing()).toEqual(['find 1', 'other 1']);
    await it.tagsInstead();
    expect(await it.missing()).toEqual(['find 1', 'find 2', 'all']);
  });

  it('happens with bypass, which concerns reads, and not where the cache is disabled', async () => {
    let bypassed = false;
    const { shop: it, cache } = await stocked({ bypass: () => bypassed });
    bypassed = true;
    await it.update(1, 'new');
    bypassed = false;
    expect(await it.missing()).toEqual(['find 1']);
    await cache.with({ bypass: true }, () => it.update(2, 'new'));
    expect(await it.missing()).toEqual(['find 2']);

    const Shop = shop();
    const off = await boot({ imports: [root({ enabled: false })], providers: [Shop] });
    const unwatched = off.get(Shop);
    expect(await unwatched.update((() => 1) as never, 'new')).toMatchObject({ name: 'new' });
    await unwatched.updateAll();
    await unwatched.reprice();
    expect(off.get(StampedeCacheService).stats().invalidations).toBe(0);
  });

  it('revokes a load under way: what it brings is not stored', async () => {
    const [began, gate] = [deferred(), deferred()];
    let runs = 0;
    @Injectable()
    class Slow {
      @Cached()
      async find(id: number) {
        runs += 1;
        began.resolve();
        if (runs === 1) await gate.promise;
        return [id, runs];
      }
      @CacheEvict({ of: 'find', args: (_result, id) => [id] })
      async update(id: number) {
        return id;
      }
    }
    const it = (await boot({ imports: [root()], providers: [Slow] })).get(Slow);
    const before = it.find(1);
    await began.promise;
    await it.update(1);
    expect(await it.find(1)).toEqual([1, 2]);
    gate.resolve();
    await before;
    expect(await it.find(1)).toEqual([1, 2]);
  });

  it('of a class in a file that imports the evicting one', async () => {
    const app = await boot({ imports: [root()], providers: [Customers, Orders] });
    const [customers, orders] = [app.get(Customers), app.get(Orders)];
    const look = async () => [await customers.find(1), await orders.find(1)];
    expect(await look()).toEqual([
      [1, 1],
      [1, 1],
    ]);
    await orders.place(1);
    await customers.rename(2);
    expect(await look()).toEqual([
      [1, 2],
      [1, 1],
    ]);
    await customers.rename(1);
    expect(await look()).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  it("goes by the target's own key, name, version, vary and cache", async () => {
    let runs = 0;
    @Injectable()
    class Target {
      readonly shop = 'a';
      @Cached({
        cache: 'b',
        name: 'target',
        version: 2,
        vary: () => 'own',
        key(id) {
          return { shop: this.shop, id: Math.trunc(id) };
        },
      })
      async find(id: number) {
        runs += 1;
        return id;
      }
    }
    @Injectable()
    class Source {
      @Cached()
      async mine() {
        return 1;
      }
      @CacheEvict({ of: () => [Target, 'find'], args: (_result, id) => [id + 0.5] })
      async update(id: number) {
        return id;
      }
      @CacheEvict({ of: () => [Target, 'find'] })
      async updateAll() {
        return 1;
      }
      @CacheEvict({ tags: ['x'], cache: 'b' })
      async retag() {
        return 1;
      }
    }
    const app = await boot({
      imports: [root(), root({ name: 'b', vary: () => undefined })],
      providers: [Target, Source],
    });
    const [target, source] = [app.get(Target), app.get(Source)];
    await target.find(1.2);
    await source.update(2);
    await target.find(1.7);
    expect(runs).toBe(1);
    await source.update(1);
    await target.find(1.7);
    expect(runs).toBe(2);
    await source.updateAll();
    await target.find(1.7);
    expect(runs).toBe(3);
    await source.retag();
  });

  it('with a module-wide vary: of the part of its caller, all parts without args, and never of none', async () => {
    let tenant: string | undefined = 'a';
    const { shop: it } = await stocked({ vary: () => tenant });
    tenant = 'b';
    await it.missing();
    await it.update(1, 'new');
    expect(await it.missing()).toEqual(['find 1']);
    tenant = 'a';
    expect(await it.missing()).toEqual([]);
    tenant = undefined;
    await expect(it.update(1, 'new')).rejects.toThrow(/Shop\.find: vary\(\) returned undefined/);
    await it.updateAll();
    for (tenant of ['a', 'b']) expect(await it.missing()).toEqual(['find 1', 'find 2']);
  });

  it('rejects with what a callback throws, or with what is wrong with its answer, after the method succeeded', async () => {
    let done = 0;
    let answer: () => unknown = () => [];
    const ask = () => answer() as never;
    @Injectable()
    class Wrong {
      @Cached({ tags: ['t'] })
      async find(_id: unknown) {
        return (done += 100);
      }
      @CacheEvict({ of: 'find', args: ask, tags: ['t'] })
      @CacheEvict({ of: 'find', args: () => [1] })
      async args() {
        return (done += 1);
      }
      @CacheEvict({ tags: ask })
      async tags() {
        return (done += 1);
      }
    }
    const it = (await boot({ imports: [root()], providers: [Wrong] })).get(Wrong);
    const oops = new TypeError('oops');
    answer = () => {
      throw oops;
    };
    await expect(it.args()).rejects.toBe(oops);
    await expect(it.tags()).rejects.toBe(oops);
    expect(done).toBe(2);
    answer = () => 5;
    await expect(it.args()).rejects.toThrow(
      /@CacheEvict on Wrong\.args: args\(\) returns an array.*received 5/,
    );
    answer = () => 't';
    await expect(it.tags()).rejects.toThrow(
      /@CacheEvict on Wrong\.tags: tags\(\) returns an array.*received 't'/,
    );
    answer = async () => [1];
    await expect(it.args()).rejects.toThrow(/received Promise.*without await/);
    answer = () => [() => 1];
    await expect(it.args()).rejects.toThrow(/Wrong\.find: argument at index \[0\]/);
    answer = () => [''];
    await expect(it.tags()).rejects.toThrow(/a tag is a string/);
    // What else the method changes has been changed all the same.
    await it.find(1);
    await it.find(2);
    const before = done;
    answer = () => {
      throw oops;
    };
    await expect(it.args()).rejects.toBe(oops);
    await it.find(2);
    await it.find(1);
    expect(done).toBe(before + 1 + 200);
  });
});
