import { StampedeCacheService } from 'nestjs-stampede-cache';
import { ProductsService } from '../src/products/products.service.js';
import { withLateAnswer } from './support/late-answer.js';
import { Shop } from './support/shop.js';
import { stores, type Store } from './support/stores.js';
import { TestDatabase } from './support/test-database.js';

describe.each(stores)('products, cached in %s', (_name, startStore) => {
  let store: Store;
  let database: TestDatabase;
  let shop: Shop;

  beforeAll(async () => {
    store = await startStore();
    database = await TestDatabase.create();
    shop = await Shop.open({ database, ...store });
  });

  afterAll(async () => {
    await shop.close();
    await database.drop();
    await store.stop();
  });

  async function createProduct({ category = 'clock', price = 1_000 } = {}): Promise<number> {
    const { body } = await shop.post('/products', { name: 'Cuckoo clock', category, price }).expect(201);
    return body.id;
  }

  it('a new product is in the cache before anybody asks for it', async () => {
    const id = await createProduct();
    const before = shop.queries;
    const { body } = await shop.get(`/products/${id}`).expect(200);
    expect(body).toEqual({ id, name: 'Cuckoo clock', category: 'clock', price: 1_000 });
    expect(shop.queries - before).toBe(0);
  });

  it('100 visitors who ask for a cold product at once cost one query', async () => {
    const id = await createProduct();
    await shop.app.get(StampedeCacheService).of(ProductsService, 'findOne').invalidate(id);
    const before = shop.queries;

    const responses = await shop.getTimes(100, `/products/${id}`);

    expect(responses.map((response) => response.status)).toEqual(Array(100).fill(200));
    expect(responses.map((response) => response.body)).toEqual(
      Array(100).fill({ id, name: 'Cuckoo clock', category: 'clock', price: 1_000 }),
    );
    expect(shop.queries - before).toBe(1);
  });

  it('a missing product is looked up once, and found at once after it was created', async () => {
    const missing = (await createProduct()) + 1;
    const before = shop.queries;

    const responses = await shop.getTimes(50, `/products/${missing}`);
    const later = await shop.get(`/products/${missing}`);

    for (const response of [...responses, later]) {
      expect(response.status).toBe(404);
      expect(response.body).toMatchObject({ statusCode: 404, message: `There is no product ${missing}` });
    }
    expect(shop.queries - before).toBe(1);

    expect(await createProduct()).toBe(missing);
    await shop.get(`/products/${missing}`).expect(200);
  });

  it('a new price is shown by the next read', async () => {
    const id = await createProduct({ price: 1_000 });
    await shop.get(`/products/${id}`).expect(200);

    await shop.patch(`/products/${id}`, { price: 750 }).expect(200);

    const { body } = await shop.get(`/products/${id}`).expect(200);
    expect(body).toEqual({ id, name: 'Cuckoo clock', category: 'clock', price: 750 });
  });

  it('a slow read that began before a change does not bring the old row back', async () => {
    const id = await createProduct({ price: 1_000 });
    await shop.app.get(StampedeCacheService).of(ProductsService, 'findOne').invalidate(id);

    const early = await withLateAnswer(
      shop,
      async () => shop.get(`/products/${id}`),
      async () => {
        await shop.patch(`/products/${id}`, { price: 750 }).expect(200);
      },
    );
    expect(early.body.price).toBe(1_000); // it came before the change

    const { body } = await shop.get(`/products/${id}`).expect(200);
    expect(body.price).toBe(750);
  });

  it('a missing product cannot be changed', async () => {
    const missing = (await createProduct()) + 1;
    await shop.patch(`/products/${missing}`, { price: 1 }).expect(404);
  });

  it('each category and page of the list is an entry of its own', async () => {
    const id = await createProduct({ category: 'sundial' });
    const before = shop.queries;

    const sundials = await shop.getTimes(20, '/products?category=sundial&page=1');
    const same = await shop.get('/products?page=1&category=sundial');
    expect([...sundials, same].map((response) => response.body)).toEqual(
      Array(21).fill([{ id, name: 'Cuckoo clock', category: 'sundial', price: 1_000 }]),
    );
    expect(shop.queries - before).toBe(1);

    const second = await shop.get('/products?category=sundial&page=2').expect(200);
    expect(second.body).toEqual([]);
    const everything = await shop.get('/products').expect(200);
    expect(everything.body).toHaveLength(20);
    expect(shop.queries - before).toBe(3);
  });

  it('a list shows at once what was added, changed, and moved to another category', async () => {
    const names = async (category: string): Promise<string[]> => {
      const { body } = await shop.get(`/products?category=${category}`).expect(200);
      return body.map(({ name }: { name: string }) => name);
    };
    expect(await names('hourglass')).toEqual([]);

    const id = await createProduct({ category: 'hourglass' });
    expect(await names('hourglass')).toEqual(['Cuckoo clock']);

    await shop.patch(`/products/${id}`, { name: 'Egg timer' }).expect(200);
    expect(await names('hourglass')).toEqual(['Egg timer']);

    expect(await names('timer')).toEqual([]);
    await shop.patch(`/products/${id}`, { category: 'timer' }).expect(200);
    expect(await names('hourglass')).toEqual([]);
    expect(await names('timer')).toEqual(['Egg timer']);
  });

  it('a query that failed is not kept', async () => {
    const id = await createProduct();
    await shop.app.get(StampedeCacheService).of(ProductsService, 'findOne').invalidate(id);

    await database.run('ALTER TABLE products RENAME TO products_in_repair');
    const before = shop.queries;
    try {
      const responses = await shop.getTimes(10, `/products/${id}`);
      expect(responses.map((response) => response.status)).toEqual(Array(10).fill(500));
    } finally {
      await database.run('ALTER TABLE products_in_repair RENAME TO products');
    }

    await shop.get(`/products/${id}`).expect(200);
    await shop.get(`/products/${id}`).expect(200);
    expect(shop.queries - before).toBeGreaterThanOrEqual(2);
  });
});
