import { Redis, type RedisOptions } from 'ioredis';
import { Cached, StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { boot, Lines } from '../e2e/kit.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const never = (): never => {
  throw new Error('nothing was to be loaded');
};

const servers: RedisServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

async function startServer(...options: Parameters<typeof RedisServer.start>): Promise<RedisServer> {
  const server = await RedisServer.start(...options);
  servers.push(server);
  return server;
}

class Shop {
  @Cached({ ttl: '10m', version: 2, earlyRefresh: 0 })
  find(id: number): Promise<number> {
    return Promise.resolve(id);
  }
}

async function cacheOn(redis: string | RedisOptions, mode: 'messages' | 'tracking', lines?: Lines) {
  const app = await boot(
    {
      imports: [
        StampedeCacheModule.forRoot({
          redis,
          namespace: 'shop',
          l1: { ttl: '10m' },
          policy: { ttl: '10m', earlyRefresh: 0 },
          redisTimeout: '5s',
          coherence: { mode },
        }),
      ],
      providers: [Shop],
    },
    lines,
  );
  return { cache: app.get(StampedeCacheService), shop: app.get(Shop) };
}

/** Reads until the answer comes from a copy. */
async function warm(cache: StampedeCacheService, read: () => Promise<unknown>): Promise<void> {
  const before = cache.stats().l1.hits;
  await until(async () => (await read(), cache.stats().l1.hits > before), { what: 'a hit of a copy' });
}

const gone = (cache: StampedeCacheService) =>
  until(() => cache.stats().l1.entries === 0, { what: 'the end of the copies' });

describe("coherence.mode 'tracking'", () => {
  it.each<[string, (client: Redis) => Promise<unknown>]>([
    ['a deletion by hand', (client) => client.del("shop:d:{:'k'}")],
    ['a write by hand', (client) => client.set("shop:d:{:'k'}", 'x')],
    ['a renamed key', (client) => client.rename("shop:d:{:'k'}", 'elsewhere')],
    ['FLUSHALL', (client) => client.flushall()],
    ['FLUSHDB', (client) => client.flushdb()],
  ])('hears of %s, which messages know nothing of', async (_, act) => {
    const server = await startServer();
    const [{ cache: told }, { cache: untold }] = [
      await cacheOn(server.url, 'tracking'),
      await cacheOn(server.url, 'messages'),
    ];
    for (const cache of [told, untold]) await warm(cache, () => cache.getOrLoad('k', () => 1));
    await act(server.client());
    await gone(told);
    const hits = untold.stats().l1.hits;
    expect(await untold.getOrLoad('k', never)).toBe(1);
    expect(untold.stats().l1.hits).toBe(hits + 1);
    expect(await told.getOrLoad('k', () => 2)).toBe(2);
  });

  it('hears of what Redis evicts', async () => {
    const server = await startServer({
      args: ['--maxmemory', '4mb', '--maxmemory-policy', 'allkeys-lru'],
    });
    const { cache } = await cacheOn(server.url, 'tracking');
    await warm(cache, () => cache.getOrLoad('k', () => 1));
    const client = server.client();
    for (let i = 0; (await client.exists("shop:d:{:'k'}")) === 1; i++) {
      await client.set(`other:${i}`, 'x'.repeat(100_000));
    }
    await gone(cache);
  });

  it('proves itself by a key of its own, on each connection', async () => {
    const server = await startServer();
    const client = server.client();
    const proof = () => until(async () => (await client.exists('shop:d:{~probe}')) === 1, { every: 1 });
    await Promise.all([proof(), cacheOn(server.url, 'tracking')]);
    await client.del('shop:d:{~probe}');
    await Promise.all([proof(), client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')]);
  });

  it('hears of keys under a keyPrefix, in a database of their own, and of versions', async () => {
    const server = await startServer();
    const redis = { port: server.port, host: '127.0.0.1', keyPrefix: 'app:', db: 3 };
    const { cache, shop } = await cacheOn(redis, 'tracking');
    await warm(cache, () => shop.find(7));
    await server.client({ db: 3 }).del('app:shop:d:{Shop.find:7}.2');
    await gone(cache);
  });

  it('hears of changes on a connection that came after', async () => {
    const server = await startServer();
    const lines = new Lines();
    const { cache } = await cacheOn(server.url, 'tracking', lines);
    await warm(cache, () => cache.getOrLoad('k', () => 1));
    const client = server.client();
    await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await gone(cache);
    await warm(cache, () => cache.getOrLoad('k', never));
    await client.del("shop:d:{:'k'}");
    await gone(cache);
    expect(lines.ofCache('warn').filter((line) => line.includes('tracking'))).toEqual([]);
  });

  it('goes on with messages alone where a user may not, and says so once', async () => {
    const server = await startServer({ users: ['app on >secret ~shop:* &shop:* +@all -client|tracking'] });
    const lines = new Lines();
    const redis = { host: '127.0.0.1', port: server.port, username: 'app', password: 'secret' };
    const { cache } = await cacheOn(redis, 'tracking', lines);
    const { cache: other } = await cacheOn(server.url, 'tracking');
    await warm(cache, () => cache.getOrLoad('k', () => 1));
    await server.client().call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await warm(cache, () => cache.getOrLoad('k', never));
    await other.invalidate('k');
    await gone(cache);
    const told = lines.ofCache('warn').filter((line) => line.includes('tracking'));
    expect(told).toEqual([expect.stringMatching(/refuses it \(.*NOPERM.*l1\.ttl/)]);
  });

  it('needs the channel of invalidations, and says so', async () => {
    const server = await startServer({ users: ['app on >secret ~shop:* &shop:* +@all'] });
    const lines = new Lines();
    const redis = { host: '127.0.0.1', port: server.port, username: 'app', password: 'secret' };
    const { cache } = await cacheOn(redis, 'tracking', lines);
    await warm(cache, () => cache.getOrLoad('k', () => 1));
    const told = lines.ofCache('warn').filter((line) => line.includes('tracking'));
    expect(told).toEqual([expect.stringMatching(/refuses it \(.*channel/)]);
  });
});
