import { StampedeCacheService } from 'nestjs-stampede-cache';
import { until } from '../../test/support/until.js';
import type { Category } from '../src/categories/categories.service.js';
import { WHOLE_LIST } from '../src/products/product.tags.js';
import { Shop } from './support/shop.js';
import { stores, type Store } from './support/stores.js';
import { TestDatabase } from './support/test-database.js';

describe.each(stores)('the list of categories, a response cached in %s', (_name, startStore) => {
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

  beforeEach(async () => {
    await shop.app.get(StampedeCacheService).invalidateTags(WHOLE_LIST);
  });

  async function productsIn(category: string): Promise<number | undefined> {
    const { body } = await shop.get('/categories').expect(200);
    return (body as Category[]).find(({ name }) => name === category)?.products;
  }

  const addMug = () => shop.post('/products', { name: 'Mug', category: 'mug', price: 500 }).expect(201);

  it('100 visitors who ask for it cold cost one query', async () => {
    const [queries, arrived] = [shop.queries, shop.arrived];
    let visitors: ReturnType<Shop['getTimes']> | undefined;

    await database.whileLocked('products', async () => {
      visitors = shop.getTimes(100, '/categories');
      await until(() => shop.arrived - arrived === 100 && shop.queries > queries, {
        what: '100 requests and a query',
      });
    });

    const responses = (await visitors) ?? [];
    expect(responses.map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses[0]?.body).toContainEqual({ name: 'mug', products: expect.any(Number) });
    expect(shop.queries - queries).toBe(1);
  });

  it('says how it came, and for how long it stays', async () => {
    const miss = await shop.get('/categories').expect(200);
    expect(miss.headers['cache-status']).toMatch(/^stampede-cache; fwd=uri-miss; .*stored/);
    const hit = await shop.get('/categories').expect(200);
    expect(hit.headers['cache-status']).toMatch(/^stampede-cache; hit; ttl=\d+$/);
    expect(hit.headers['age']).toMatch(/^\d+$/);
    expect(hit.text).toBe(miss.text);
  });

  it('is shared by visitors with a cookie', async () => {
    await shop.get('/categories').set('cookie', 'session=ann').expect(200);
    const queries = shop.queries;
    await shop.get('/categories').set('cookie', 'session=bob').expect(200);
    await shop.get('/categories').expect(200);
    expect(shop.queries - queries).toBe(0);
  });

  it('is a 304 without a body for who has it already', async () => {
    const { headers } = await shop.get('/categories').expect(200);
    const queries = shop.queries;

    const { text } = await shop.get('/categories').set('if-none-match', String(headers['etag'])).expect(304);

    expect(text).toBe('');
    expect(shop.queries - queries).toBe(0);
  });

  it('shows at once what was added and what was renamed, also to who has the old one', async () => {
    await addMug();
    const before = (await productsIn('mug')) ?? 0;
    const { headers } = await shop.get('/categories').expect(200);

    await addMug();
    await shop.get('/categories').set('if-none-match', String(headers['etag'])).expect(200);
    expect(await productsIn('mug')).toBe(before + 1);

    await shop.patch('/categories/mug', { name: 'cup' }).expect(200);
    expect([await productsIn('mug'), await productsIn('cup')]).toEqual([undefined, before + 1]);
    await shop.patch('/categories/cup', { name: 'mug' }).expect(200);
  });
});
