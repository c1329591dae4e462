import { Injectable, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  Cached,
  CacheEvict,
  CachePut,
  CacheUnavailableError,
  ConfigurationError,
  InjectStampedeCache,
  InvalidationError,
  StampedeCacheModule,
  StampedeCacheService,
} from 'nestjs-stampede-cache';
import type { Redis } from 'ioredis';
import { deferred } from '../support/deferred.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { boot, bootError, compile, Lines } from './kit.js';

let server: RedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  admin = server.client();
});

afterAll(() => server.stop());

const root = (options: object = {}): DynamicModule =>
  StampedeCacheModule.forRoot({ redis: server.url, namespace: 'shop', policy: { ttl: '60s' }, ...options });

/** Connections besides those of the test itself. */
async function connections(): Promise<number> {
  const list = String(await admin.call('CLIENT', 'LIST'));
  const own = String(await admin.call('CLIENT', 'ID'));
  return list
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith(`id=${own} `)).length;
}

const noConnections = () => until(async () => (await connections()) === 0, { what: 'no connection' });

afterEach(async () => {
  await admin.flushall();
});

describe('With Redis', () => {
  it('two applications share entries, and a hit in one is the load of the other', async () => {
    let runs = 0;
    @Injectable()
    class Products {
      @Cached()
      async find(id: number) {
        runs += 1;
        return { id, at: new Date(5) };
      }
    }
    const [one, two] = [
      await boot({ imports: [root()], providers: [Products] }),
      await boot({ imports: [root()], providers: [Products] }),
    ];
    expect(await one.get(Products).find(1)).toEqual(await two.get(Products).find(1));
    expect(runs).toBe(1);
    expect(await admin.keys('shop:*')).toEqual(['shop:d:{Products.find:1}']);
    expect(await admin.pttl('shop:d:{Products.find:1}')).toBeGreaterThan(0);
    await two.get(StampedeCacheService).of(Products, 'find').invalidate(1);
    await one.get(Products).find(1);
    expect(runs).toBe(2);
  });

  it('ten imports are one connection for commands and one for wake-ups (FC-111)', async () => {
    const lines = new Lines();
    await boot({ imports: Array.from({ length: 10 }, () => root()) }, lines);
    await until(async () => (await connections()) === 2, { what: 'two connections' });
    expect(lines.ofCache()).toEqual([expect.stringMatching(/Redis is up \(namespace shop\)/)]);
  });

  it('a named cache keeps its keys under <default namespace>.<name>', async () => {
    @Injectable()
    class Reader {
      constructor(@InjectStampedeCache('b') readonly b: StampedeCacheService) {}
    }
    const app = await boot({
      imports: [root({ name: 'b', namespace: undefined }), root()],
      providers: [Reader],
    });
    await app.get(Reader).b.set('k', 1);
    expect(await admin.keys('*')).toEqual(["shop.b:d:{:'k'}"]);
    const error = await bootError({
      imports: [StampedeCacheModule.forRoot(), StampedeCacheModule.forRoot({ name: 'b', redis: server.url })],
    });
    expect(error.message).toMatch(/the cache 'b': namespace is required with redis/);
  });

  it('uses an instance that was handed in, leaves it open and gives back every listener (FC-097)', async () => {
    const mine = server.client();
    await mine.ping();
    const listeners = () => mine.eventNames().map((name) => [name, mine.listenerCount(name)]);
    const before = listeners();
    const app = await boot({ imports: [root({ redis: mine })] });
    await app.get(StampedeCacheService).set('k', 1);
    expect(await admin.dbsize()).toBe(1);
    await app.close();
    expect(listeners()).toEqual(before);
    expect(await mine.ping()).toBe('PONG');
    mine.disconnect();
  });
});

describe('Nothing is left behind', () => {
  it('by close(), twice, and calls after it go to the origin (FC-097, FC-113)', async () => {
    const app = await boot({ imports: [root()] });
    const cache = app.get(StampedeCacheService);
    await cache.getOrLoad('k', () => 1);
    await Promise.all([app.close(), app.close()]);
    await app.close();
    await noConnections();
    expect(await cache.getOrLoad('k', () => 2)).toBe(2);
    await expect(cache.invalidate('k')).rejects.toThrow(InvalidationError);
  });

  it('by an application that was compiled and never initialised', async () => {
    await compile({ imports: [root()] });
    expect(await connections()).toBe(0);
  });

  it('by one that was compiled, used and closed without init()', async () => {
    const app = await compile({ imports: [root()] });
    await app.get(StampedeCacheService).set('k', 1);
    expect(await admin.dbsize()).toBe(1);
    await app.close();
    await noConnections();
  });

  it.each<[string, () => ModuleMetadata]>([
    [
      'another provider that can not be made',
      () => ({
        imports: [root()],
        providers: [
          {
            provide: 'X',
            inject: [StampedeCacheService],
            useFactory: () => {
              throw new Error('X');
            },
          },
        ],
      }),
    ],
    [
      'the onModuleInit of another provider',
      () => ({
        imports: [root()],
        providers: [
          {
            provide: 'X',
            useValue: {
              onModuleInit: () => {
                throw new Error('X');
              },
            },
          },
        ],
      }),
    ],
    [
      'a method that can not be cached, though another was called before',
      () => {
        @Injectable()
        class Early {
          constructor(readonly cache: StampedeCacheService) {}
          @Cached({ ttl: 'x' as '1s' })
          async find() {
            return 1;
          }
        }
        return {
          imports: [root()],
          providers: [
            Early,
            {
              provide: 'USES',
              inject: [StampedeCacheService],
              useFactory: (cache: StampedeCacheService) => cache.getOrLoad('k', () => 1),
            },
          ],
        };
      },
    ],
  ])('by a bootstrap that failed for %s', async (_, metadata) => {
    await expect(boot(metadata())).rejects.toThrow(/X|Early\.find: ttl/);
    await noConnections();
  });
});

describe('While Redis is away', () => {
  const nowhere = { redis: 'redis://127.0.0.1:1' };

  it('the application starts, loads from the origin, and says so once', async () => {
    const lines = new Lines();
    const app = await boot({ imports: [root(nowhere)] }, lines);
    const cache = app.get(StampedeCacheService);
    expect(await cache.getOrLoad('k', () => 1)).toBe(1);
    expect(await cache.getOrLoad('k', () => 2)).toBe(2);
    expect(lines.ofCache()).toEqual([expect.stringMatching(/Redis is down \(.*ECONNREFUSED.*\)/)]);
    await expect(cache.invalidate('k')).rejects.toThrow(InvalidationError);
  });

  it('requireRedis fails the bootstrap and leaves nothing behind', async () => {
    const error = await bootError({ imports: [root({ ...nowhere, requireRedis: true })] });
    expect(error).toBeInstanceOf(CacheUnavailableError);
    expect(error.message).toMatch(/ECONNREFUSED.*requireRedis/);
    await boot({ imports: [root({ requireRedis: true })] });
  });

  it('options that ioredis refuses fail the bootstrap', async () => {
    for (const redis of [{ scaleReads: 'slave' }, { role: 'slave' }, new Date()]) {
      const error = await bootError({ imports: [root({ redis })] });
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error.message).toMatch(/redis: got/);
    }
  });

  it('each change of state is one line and one event, and the cache joins in again', async () => {
    const own = await RedisServer.start();
    try {
      const lines = new Lines();
      const app = await boot({ imports: [root({ redis: own.url })] }, lines);
      const cache = app.get(StampedeCacheService);
      const seen: string[] = [];
      cache.events$.subscribe(({ type }) => {
        if (type.startsWith('redis')) seen.push(type);
      });
      await own.restart();
      await until(() => seen.includes('redis.up'), { timeout: 10_000, what: 'redis.up' });
      expect(seen).toEqual(['redis.down', 'redis.up']);
      expect(lines.ofCache().map((line) => /Redis is (up|down)/.exec(line)?.[1])).toEqual([
        'up',
        'down',
        'up',
      ]);
      await cache.set('k', 1);
      expect(await cache.get('k')).toBe(1);
    } finally {
      await own.stop();
    }
  });
});

describe('A shutdown', () => {
  it('lets loads under way end and publishes them, then disconnects (FC-113)', async () => {
    const gate = deferred<number>();
    const app = await Test.createTestingModule({ imports: [root()] }).compile();
    await app.init();
    const cache = app.get(StampedeCacheService);
    const load = cache.getOrLoad('k', () => gate.promise);
    await until(() => cache.stats().active.slots === 1);
    const closing = app.close();
    gate.resolve(5);
    expect(await load).toBe(5);
    await closing;
    expect(await admin.exists("shop:d:{:'k'}", "shop:l:{:'k'}")).toBe(1);
    await noConnections();
  });
});

describe('Invalidation with Redis', () => {
  /** An application with a build of its own of the same class. */
  async function build(version: string | number | undefined, options: object = {}) {
    @Injectable()
    class Products {
      runs = 0;
      @Cached({ version, tags: (id) => ['products', `product:${id}`] })
      async find(id: number) {
        return { id, version, run: (this.runs += 1) };
      }
      @CacheEvict({ of: 'find', args: (_result, id) => [id] })
      async update(id: number) {
        return id;
      }
      @CachePut({ of: 'find', args: (_result, id) => [id] })
      async put(id: number) {
        return { id, version, run: 100 };
      }
      @CacheEvict({ of: 'find' })
      async updateAll() {
        return 1;
      }
      @CacheEvict({ tags: (_result, id) => [`product:${id}`] })
      async retag(id: number) {
        return id;
      }
    }
    const app = await boot({ imports: [root(options)], providers: [Products] });
    return { it: app.get(Products), cache: app.get(StampedeCacheService), Products };
  }

  it('keeps the versions of two builds side by side, and an eviction reaches both', async () => {
    const [old, young] = [await build(1), await build('two')];
    for (const { it } of [old, young]) expect(await it.find(1)).toMatchObject({ run: 1 });
    expect([(await old.it.find(1)).version, (await young.it.find(1)).version]).toEqual([1, 'two']);
    expect(await young.cache.of(young.Products, 'find').inspect(1)).toMatchObject({ version: 'two' });
    await young.it.update(1);
    for (const { it } of [old, young]) expect(await it.find(1)).toMatchObject({ run: 2 });
    await old.it.put(1);
    expect([await old.it.find(1), await young.it.find(1)]).toMatchObject([
      { run: 100, version: 1 },
      { run: 3, version: 'two' },
    ]);
    await young.it.updateAll();
    await until(async () => (await old.it.find(1)).run === 3, { what: 'the clear in the other build' });
    expect(await young.it.find(1)).toMatchObject({ run: 4 });
  });

  it('an eviction in one application is seen in the other: by key at once, by tag and name within maxLag', async () => {
    const options = { coherence: { maxLag: '200ms' } };
    const [one, two] = [await build(undefined, options), await build(undefined, options)];
    await one.it.find(1);
    await two.it.find(1);
    expect(two.it.runs).toBe(0);
    await one.it.update(1);
    expect(await two.it.find(1)).toMatchObject({ run: 1 });
    const kept = await two.it.find(2);
    const seen = async (id: number, run: number) => (await two.it.find(id)).run > run;
    await one.it.retag(1);
    await until(() => seen(1, 1), { what: 'the invalidated tag' });
    expect(await two.it.find(2)).toEqual(kept);
    await one.it.updateAll();
    await until(() => seen(2, kept.run), { what: 'the clear' });
    const { run } = await two.it.find(2);
    await one.cache.clear();
    await until(() => seen(2, run), { what: 'the clear of everything' });
  });

  it('a transaction leaves Redis alone until it resolves', async () => {
    const { it, cache } = await build(undefined);
    await it.find(1);
    await cache.deferInvalidations(async () => {
      await it.update(1);
      expect(await admin.exists('shop:d:{Products.find:1}')).toBe(1);
    });
    expect(await admin.exists('shop:d:{Products.find:1}')).toBe(0);
  });

  it('an eviction that Redis does not answer is made when it does', async () => {
    const { it, cache } = await build(undefined, { redisWriteTimeout: '100ms' });
    await it.find(1);
    server.pause();
    try {
      expect(await it.update(1)).toBe(1);
      expect((await it.find(1)).run).toBe(2);
    } finally {
      server.resume();
    }
    await until(() => cache.stats().active.unsettled === 0, { what: 'the retry' });
    const { run } = await it.find(1);
    expect(run).toBeGreaterThan(1);
  });
});
