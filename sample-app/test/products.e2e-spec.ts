import { deferred } from '../../test/support/deferred.js';
import { Database } from '../src/database/database.js';
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

  /** A product that nobody has read yet. */
  async function createProduct({ category = 'clock', price = 1_000 } = {}): Promise<number> {
    const { body } = await shop.post('/products', { name: 'Cuckoo clock', category, price }).expect(201);
    return body.id;
  }

  it('100 visitors who ask for a cold product at once cost one query', async () => {
    const id = await createProduct();
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
    const read = deferred();
    const goOn = deferred();
    const connection = shop.app.get(Database);
    const query = connection.query.bind(connection);
    jest.spyOn(connection, 'query').mockImplementationOnce(async (sql, parameters) => {
      const rows = await query(sql, parameters);
      read.resolve();
      await goOn.promise;
      return rows as never; // the same rows, late
    });

    const early = shop.get(`/products/${id}`).then((response) => response);
    await read.promise;
    await shop.patch(`/products/${id}`, { price: 750 }).expect(200);
    goOn.resolve();
    expect((await early).status).toBe(200);

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

  it('a query that failed is not kept', async () => {
    const id = await createProduct();

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
