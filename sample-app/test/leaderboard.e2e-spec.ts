import './support/short-leaderboard-ttl.js';
import { StampedeCacheService } from 'nestjs-stampede-cache';
import { until } from '../../test/support/until.js';
import { LeaderboardService, type BestSeller } from '../src/leaderboard/leaderboard.service.js';
import { Shop } from './support/shop.js';
import { stores, type Store } from './support/stores.js';
import { TestDatabase } from './support/test-database.js';

describe.each(stores)('the leaderboard, cached in %s', (_name, startStore) => {
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
    await shop.app.get(StampedeCacheService).of(LeaderboardService, 'bestSellers').invalidate();
  });

  async function leaderboard(): Promise<BestSeller[]> {
    const { body } = await shop.get('/leaderboard').expect(200);
    return body;
  }

  /** Makes a product the new number one. */
  async function sellManyOf(product: number): Promise<void> {
    await database.run(`
      INSERT INTO orders (product_id, quantity, price)
      SELECT ${product}, 10 * sum(quantity), max(price) FROM orders`);
  }

  it('100 visitors who ask for it cold cost one query', async () => {
    const [queries, arrived] = [shop.queries, shop.arrived];
    let visitors: ReturnType<Shop['getTimes']> | undefined;

    await database.whileLocked('orders', async () => {
      visitors = shop.getTimes(100, '/leaderboard');
      await until(() => shop.arrived - arrived === 100 && shop.queries > queries, {
        what: '100 requests and a query',
      });
    });

    const responses = (await visitors) ?? [];
    expect(responses).toHaveLength(100);
    for (const response of responses) {
      expect(response.status).toBe(200);
      expect(response.body).toHaveLength(10);
      expect(response.body).toEqual(responses[0]?.body);
    }
    expect(shop.queries - queries).toBe(1);
  });

  it('ranks products by revenue', async () => {
    await sellManyOf(77);
    const board = await leaderboard();
    expect(board[0]).toMatchObject({ rank: 1, id: 77 });
    const revenues = board.map(({ revenue }) => revenue);
    expect(revenues).toEqual([...revenues].sort((a, b) => b - a));
  });

  it('when its ttl has passed, everybody gets the previous one at once while one query computes the next', async () => {
    const previous = await leaderboard();
    const next = previous[0]?.id === 500 ? 501 : 500;
    await sellManyOf(next);
    const queries = shop.queries;

    await database.whileLocked('orders', async () => {
      // Each of these is answered although no query can be: a reader that waited for the refresh would wait for ever.
      await until(async () => {
        expect(await leaderboard()).toEqual(previous);
        return shop.queries > queries;
      });
      const responses = await shop.getTimes(100, '/leaderboard');
      expect(responses.map((response) => response.body)).toEqual(Array(100).fill(previous));
      expect(shop.queries - queries).toBe(1);
    });

    await until(async () => (await leaderboard())[0]?.id === next, { what: 'the new leaderboard' });
  });
});
