import { StampedeCacheService } from 'nestjs-stampede-cache';
import { until } from '../../test/support/until.js';
import { ProductsService } from '../src/products/products.service.js';
import { Shop } from './support/shop.js';
import { startRedis, type Store } from './support/stores.js';
import { TestDatabase } from './support/test-database.js';

describe('two instances of the shop on one Redis', () => {
  let store: Required<Store>;
  let database: TestDatabase;
  let here: Shop;
  let there: Shop;

  beforeAll(async () => {
    store = await startRedis();
    database = await TestDatabase.create();
    [here, there] = await Promise.all([Shop.open({ database, ...store }), Shop.open({ database, ...store })]);
  });

  afterAll(async () => {
    await Promise.all([here.close(), there.close()]);
    await database.drop();
    await store.stop();
  });

  async function createProduct(): Promise<number> {
    const product = { name: 'Cuckoo clock', category: 'clock', price: 1_000 };
    const { body } = await here.post('/products', product).expect(201);
    return body.id;
  }

  it('100 visitors of either cost one query of both', async () => {
    const id = await createProduct();
    await here.app.get(StampedeCacheService).of(ProductsService, 'findOne').invalidate(id);
    const before = here.queries + there.queries;

    const responses = await Promise.all([
      here.getTimes(50, `/products/${id}`),
      there.getTimes(50, `/products/${id}`),
    ]);

    expect(responses.flat().map((response) => response.body.id)).toEqual(Array(100).fill(id));
    expect(here.queries + there.queries - before).toBe(1);
  });

  it('a price changed here is shown there by the next read', async () => {
    const id = await createProduct();
    await there.get(`/products/${id}`).expect(200);

    await here.patch(`/products/${id}`, { price: 750 }).expect(200);

    const { body } = await there.get(`/products/${id}`).expect(200);
    expect(body.price).toBe(750);
  });

  it('a product that was missing there is found there once it was created here', async () => {
    const missing = (await createProduct()) + 1;
    await there.get(`/products/${missing}`).expect(404);
    const before = here.queries;
    await here.get(`/products/${missing}`).expect(404);
    expect(here.queries - before).toBe(0);

    expect(await createProduct()).toBe(missing);

    await there.get(`/products/${missing}`).expect(200);
  });

  it('a category renamed here has its new name there, in products and lists, a moment later', async () => {
    const id = await createProduct();
    await there.get(`/products/${id}`).expect(200);
    expect((await there.get('/products?category=clock').expect(200)).body).not.toEqual([]);

    await here.patch('/categories/clock', { name: 'timepiece' }).expect(200);

    await until(async () => (await there.get(`/products/${id}`)).body.category === 'timepiece', {
      timeout: 5_000,
    });
    await until(async () => (await there.get('/products?category=clock')).body.length === 0, {
      timeout: 5_000,
    });
  });
});
