import { Shop } from './support/shop.js';
import { TestDatabase } from './support/test-database.js';

describe('requests', () => {
  let database: TestDatabase;
  let shop: Shop;

  beforeAll(async () => {
    database = await TestDatabase.create();
    shop = await Shop.open({ database });
  });

  afterAll(async () => {
    await shop.close();
    await database.drop();
  });

  it.each([
    ['/products/zero', 'id must be a whole number from 1 to 2147483647'],
    ['/products/0', 'id must be a whole number from 1 to 2147483647'],
    ['/products/3000000000', 'id must be a whole number from 1 to 2147483647'],
    ['/products?page=0', 'page must be a whole number from 1 to 10000'],
    ['/products?page=1&page=2', 'page must be a whole number from 1 to 10000'],
    ['/products?category=', 'category must be a text of 1 to 100 characters'],
    ['/products?colour=red', 'Unknown field colour; known are category, page'],
  ])('GET %s is refused', async (path, message) => {
    const before = shop.queries;
    const { body } = await shop.get(path).expect(400);
    expect(body.message).toBe(message);
    expect(shop.queries - before).toBe(0);
  });

  it.each([
    [{}, 'name must be a text of 1 to 100 characters'],
    [[], 'The body must be a JSON object with name, category and price'],
    [{ name: 'Mug', category: 'mug', price: 1.5 }, 'price must be a whole number of cents, 0 to 100000000'],
    [{ name: 'Mug', category: 'mug', price: -1 }, 'price must be a whole number of cents, 0 to 100000000'],
    [{ name: 'Mug', category: 7, price: 1 }, 'category must be a text of 1 to 100 characters'],
    [{ id: 1, name: 'Mug', category: 'mug', price: 1 }, 'Unknown field id; known are name, category, price'],
  ])('POST /products with %j is refused', async (product, message) => {
    const { body } = await shop.post('/products', product).expect(400);
    expect(body.message).toBe(message);
  });

  it.each([
    [{}, 'Nothing to change: give name, category or price'],
    [{ price: '10' }, 'price must be a whole number of cents, 0 to 100000000'],
  ])('PATCH /products/1 with %j is refused', async (changes, message) => {
    const { body } = await shop.patch('/products/1', changes).expect(400);
    expect(body.message).toBe(message);
  });

  it.each([
    [{}, 'The body must be a JSON array of 1 to 100 objects with id and price'],
    [[], 'The body must be a JSON array of 1 to 100 objects with id and price'],
    [[7], 'The body must be a JSON object with id and price'],
    [[{ id: 0, price: 1 }], 'id must be a whole number from 1 to 2147483647'],
    [[{ id: 1 }], 'price must be a whole number of cents, 0 to 100000000'],
    [[{ id: 1, price: 1, name: 'Mug' }], 'Unknown field name; known are id, price'],
  ])('POST /products/prices with %j is refused', async (prices, message) => {
    const { body } = await shop.post('/products/prices', prices).expect(400);
    expect(body.message).toBe(message);
  });

  it.each([
    [{}, 'name must be a text of 1 to 100 characters'],
    [{ name: 'mug', id: 1 }, 'Unknown field id; known are name'],
  ])('PATCH /categories/mug with %j is refused', async (change, message) => {
    const { body } = await shop.patch('/categories/mug', change).expect(400);
    expect(body.message).toBe(message);
  });

  it('GET /stats tells how many queries reached the database, and what the cache did', async () => {
    await shop.get('/products/1').expect(200);
    const first = await shop.get('/stats').expect(200);
    await shop.get('/products/1').expect(200);
    const second = await shop.get('/stats').expect(200);

    expect(second.body.queries).toBe(first.body.queries);
    expect(second.body.cache).not.toEqual(first.body.cache);
  });
});
