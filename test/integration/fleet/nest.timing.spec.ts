import { join } from 'node:path';
import { startWorkers, type Workers } from '../../support/processes.js';
import { RedisServer } from '../../support/redis-server.js';
import { control } from './control.js';
import { DataSource } from './data-source.js';
import { errorsOf, serials } from './fleet.js';

type Shop = typeof import('./shop.worker.js');

const PROCESSES = 3;
const CALLERS = 100;

let redis: RedisServer;
let books: RedisServer;
let source: DataSource;
let shops: Workers<Shop>;

beforeAll(async () => {
  redis = await RedisServer.start();
  books = await RedisServer.start();
  source = new DataSource(books.port);
  shops = await startWorkers<Shop>({ module: join(__dirname, 'shop.worker.ts'), count: PROCESSES });
  await shops.all('open', redis.url, books.port);
}, 30_000);
afterAll(async () => {
  try {
    await shops.stop();
  } finally {
    source.close();
    await Promise.all([redis.stop(), books.stop()]);
  }
});

describe('Three Nest applications on one Redis', () => {
  it('load a missing product once, over a @Cached method', async () => {
    await control(shops, source, 'find', CALLERS);
    const replies = (await shops.all('find', 'boots', CALLERS)).flat();
    expect(errorsOf(replies)).toEqual([]);
    expect(replies).toHaveLength(PROCESSES * CALLERS);
    expect(serials(replies)).toEqual([1]);
    expect(await source.count('find:boots')).toBe(1);
  });

  it('load a missing key once, over the service', async () => {
    await control(shops, source, 'getOrLoad', CALLERS);
    const replies = (await shops.all('getOrLoad', 'boots', CALLERS)).flat();
    expect(errorsOf(replies)).toEqual([]);
    expect(replies).toHaveLength(PROCESSES * CALLERS);
    expect(serials(replies)).toEqual([1]);
    expect(await source.count('key:boots')).toBe(1);
  });

  it('all read anew after an invalidation in one of them, and load once for it', async () => {
    await control(shops, source, 'invalidate', CALLERS);
    await shops.all('find', 'shoes', 1);
    await shops.all('getOrLoad', 'shoes', 1);
    await shops.call(1, 'invalidate', 'shoes', 'shoes');
    const found = (await shops.all('find', 'shoes', CALLERS)).flat();
    const got = (await shops.all('getOrLoad', 'shoes', CALLERS)).flat();
    expect(errorsOf([...found, ...got])).toEqual([]);
    expect([serials(found), serials(got)]).toEqual([[2], [2]]);
    expect(await source.count('find:shoes')).toBe(2);
    expect(await source.count('key:shoes')).toBe(2);
  });
});
