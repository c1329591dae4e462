import { StampedeCacheService } from 'nestjs-stampede-cache';
import { deferred, type Deferred } from '../../test/support/deferred.js';
import { until } from '../../test/support/until.js';
import { Database } from '../src/database/database.js';
import { UnitOfWork } from '../src/database/unit-of-work.js';
import type { Product } from '../src/products/product.js';
import { ProductsService } from '../src/products/products.service.js';
import { withLateAnswer } from './support/late-answer.js';
import { Shop } from './support/shop.js';
import { stores, type Store } from './support/stores.js';
import { TestDatabase } from './support/test-database.js';

describe.each(stores)('transactions, cached in %s', (_name, startStore) => {
  let store: Store;
  let database: TestDatabase;
  let shop: Shop;
  let products: ProductsService;
  let unitOfWork: UnitOfWork;

  beforeAll(async () => {
    store = await startStore();
    database = await TestDatabase.create();
    shop = await Shop.open({ database, ...store });
    products = shop.app.get(ProductsService);
    unitOfWork = shop.app.get(UnitOfWork);
  });

  /** Units of work that a test has begun. One that it leaves open would keep its connection. */
  const open = new Set<Deferred<void>>();

  afterEach(() => {
    for (const end of open) end.reject(new Error('the test has ended'));
    open.clear();
  });

  afterAll(async () => {
    await shop.close();
    await database.drop();
    await store.stop();
  });

  const entries = () => shop.app.get(StampedeCacheService).of(ProductsService, 'findOne');

  async function createProduct({ category = 'clock' } = {}): Promise<number> {
    const { body } = await shop
      .post('/products', { name: 'Cuckoo clock', category, price: 1_000 })
      .expect(201);
    return body.id;
  }

  async function priceOf(id: number): Promise<number> {
    const { body } = await shop.get(`/products/${id}`).expect(200);
    return body.price;
  }

  /** A unit of work that has done `work`, has not committed yet, and goes on when told to. */
  async function begun<R>(
    work: () => Promise<R>,
  ): Promise<{ result: R; commit(): Promise<R>; fail(): Promise<void> }> {
    const worked = deferred<R>();
    const end = deferred();
    open.add(end);
    end.promise.catch(() => undefined);
    const ended = unitOfWork.run(async () => {
      const result = await work();
      worked.resolve(result);
      await end.promise;
      return result;
    });
    ended.catch((error: unknown) => worked.reject(error));
    return {
      result: await worked.promise,
      commit: async () => {
        end.resolve();
        return ended;
      },
      fail: async () => {
        end.reject(new Error('changed our mind'));
        await expect(ended).rejects.toThrow('changed our mind');
      },
    };
  }

  it('several prices change together, and the next read of each shows the new one', async () => {
    const ids = [await createProduct(), await createProduct(), await createProduct()];
    await Promise.all(ids.map(priceOf));

    const changes = ids.map((id, index) => ({ id, price: 700 + index }));
    const { body } = await shop.post('/products/prices', changes).expect(200);

    expect(body.map(({ price }: Product) => price)).toEqual([700, 701, 702]);
    expect(await Promise.all(ids.map(priceOf))).toEqual([700, 701, 702]);
  });

  it('within a transaction a read sees its own writes, everybody else gets what is committed, from the cache', async () => {
    const id = await createProduct();
    expect(await priceOf(id)).toBe(1_000);

    const work = await begun(async () => {
      await products.update(id, { price: 800 });
      return products.findOne(id);
    });
    expect(work.result.price).toBe(800);
    const before = shop.queries;
    expect(await priceOf(id)).toBe(1_000);
    expect(shop.queries - before).toBe(0);

    await work.commit();
    expect(await priceOf(id)).toBe(800);
  });

  it('what only the transaction may see is not stored: neither a row, nor that there is none', async () => {
    const [changed, deleted] = [await createProduct(), await createProduct()];
    await entries().invalidate(changed);
    await entries().invalidate(deleted);

    const work = await begun(async () => {
      const db = shop.app.get(Database);
      await db.query('UPDATE products SET price = 1 WHERE id = $1', [changed]);
      await db.query('DELETE FROM products WHERE id = $1', [deleted]);
      await expect(products.findOne(deleted)).rejects.toThrow('There is no product');
      return products.findOne(changed);
    });
    expect(work.result.price).toBe(1);
    expect(await entries().inspect(changed)).toBeNull();
    expect(await entries().inspect(deleted)).toBeNull();

    expect(await Promise.all([priceOf(changed), priceOf(deleted)])).toEqual([1_000, 1_000]);
    await work.fail();
    expect(await Promise.all([priceOf(changed), priceOf(deleted)])).toEqual([1_000, 1_000]);
  });

  it('a reader that loads the old row before the commit does not bring it back after it', async () => {
    const id = await createProduct();
    await entries().invalidate(id);

    const work = await begun(() => products.update(id, { price: 800 }));
    expect(await priceOf(id)).toBe(1_000); // loaded, and stored in a moment
    await until(async () => (await entries().get(id))?.price === 1_000, { what: 'the old row to be stored' });
    await work.commit();

    expect(await priceOf(id)).toBe(800);
  });

  it('nor does one that is still loading while the transaction commits', async () => {
    const id = await createProduct();
    await entries().invalidate(id);
    const work = await begun(() => products.update(id, { price: 800 }));

    const early = await withLateAnswer(
      shop,
      () => priceOf(id),
      async () => {
        await work.commit();
        expect(await priceOf(id)).toBe(800);
      },
    );

    expect(early).toBe(1_000); // it had come before the commit
    expect(await priceOf(id)).toBe(800);
  });

  it('a rollback evicts nothing, and nobody has seen what it took back', async () => {
    const ids = [await createProduct(), await createProduct()];
    await Promise.all(ids.map(priceOf));

    const work = await begun(async () => {
      for (const id of ids) await products.update(id, { price: 1 });
    });
    expect(await Promise.all(ids.map(priceOf))).toEqual([1_000, 1_000]);
    await work.fail();

    const before = shop.queries;
    expect(await Promise.all(ids.map(priceOf))).toEqual([1_000, 1_000]);
    expect(shop.queries - before).toBe(0);
  });

  it.each([
    [404, 'one product is missing', () => ({ id: 2_000_000_000, price: 1 })],
    [422, 'one price is a typing error', (id: number) => ({ id, price: 1_000_000 })],
  ])('%i: no price changes when %s', async (status, _why, bad) => {
    const [good, other] = [await createProduct(), await createProduct()];
    await priceOf(good);

    await shop.post('/products/prices', [{ id: good, price: 800 }, bad(other)]).expect(status);

    const before = shop.queries;
    expect(await priceOf(good)).toBe(1_000);
    expect(shop.queries - before).toBe(0);
  });

  it('a product that was created and rolled back is not in the cache', async () => {
    const work = await begun(() =>
      products.create({ name: 'Cuckoo clock', category: 'clock', price: 1_000 }),
    );
    await work.fail();
    await shop.get(`/products/${work.result.id}`).expect(404);
  });

  it('a unit of work in another one is part of it', async () => {
    const id = await createProduct();
    expect(await priceOf(id)).toBe(1_000);

    const work = await begun(() => products.changePrices([{ id, price: 800 }]));
    expect(await priceOf(id)).toBe(1_000);
    await work.commit();

    expect(await priceOf(id)).toBe(800);
  });

  it('a query that was not awaited is refused when its transaction has ended', async () => {
    const ended = deferred();
    let forgotten: Promise<unknown> = Promise.resolve();
    await unitOfWork.run(async () => {
      forgotten = ended.promise.then(() => products.findOne(1));
      forgotten.catch(() => undefined);
    });
    await entries().invalidate(1);
    ended.resolve();
    await expect(forgotten).rejects.toThrow('was not awaited');
  });

  it('a renamed category has its new name everywhere, also where a product was being loaded meanwhile', async () => {
    const [stored, loading] = [
      await createProduct({ category: 'stopwatch' }),
      await createProduct({ category: 'stopwatch' }),
    ];
    const listed = async (category: string): Promise<number> =>
      (await shop.get(`/products?category=${category}`).expect(200)).body.length;
    expect([await listed('stopwatch'), await listed('chronograph')]).toEqual([2, 0]);
    await entries().invalidate(loading);

    const early = await withLateAnswer(
      shop,
      async () => shop.get(`/products/${loading}`),
      async () => {
        const { body } = await shop.patch('/categories/stopwatch', { name: 'chronograph' }).expect(200);
        expect(body).toEqual({ products: 2 });
      },
    );

    expect(early.body.category).toBe('stopwatch'); // it had come before
    for (const id of [stored, loading]) {
      expect((await shop.get(`/products/${id}`).expect(200)).body.category).toBe('chronograph');
    }
    expect([await listed('stopwatch'), await listed('chronograph')]).toEqual([0, 2]);
  });

  it('rows are locked by the transaction that changes them, not by readers of the cache', async () => {
    const id = await createProduct();
    const first = await begun(() => products.update(id, { price: 800 }));
    const before = shop.queries;
    const second = products.update(id, { price: 900 });
    await until(() => shop.queries - before === 1, { what: 'the second update, waiting' });

    expect(await priceOf(id)).toBe(1_000);
    await first.commit();
    expect((await second).price).toBe(900);
    expect(await priceOf(id)).toBe(900);
  });
});
