import type { RedisOptions } from 'ioredis';
import { StampedeCacheModule, StampedeCacheService, type StampedeCacheEvent } from 'nestjs-stampede-cache';
import type { TestingModule } from '@nestjs/testing';
import { boot } from '../e2e/kit.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const MAX_LAG = 400;
/** What a busy machine may add; a copy that nobody dropped would live for `l1.ttl`, 30 s. */
const PAUSE = 1_500;
const POLICY = { ttl: '10m', earlyRefresh: 0 } as const;

let server: RedisServer;
let namespaces = 0;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

interface Setup {
  readonly redis?: unknown;
  readonly namespace: string;
  readonly l1?: object | false;
  readonly tags?: readonly string[];
}

async function cacheOn({ redis = server.url, namespace, l1 = {} }: Setup): Promise<StampedeCacheService> {
  const app: TestingModule = await boot({
    imports: [
      StampedeCacheModule.forRoot({
        redis: redis as string,
        namespace,
        l1: l1 as object,
        policy: POLICY,
        redisTimeout: '5s',
        coherence: { maxLag: MAX_LAG },
      }),
    ],
  });
  return app.get(StampedeCacheService);
}

const freshNamespace = (): string => `near-${(namespaces += 1)}`;

/** Two processes' caches, as far as the store is concerned. */
async function pair(l1: object | false = {}): Promise<[StampedeCacheService, StampedeCacheService]> {
  const namespace = freshNamespace();
  return [await cacheOn({ namespace }), await cacheOn({ namespace, l1 })];
}

const never = (): never => {
  throw new Error('nothing was to be loaded');
};

/** Reads until the answer comes from a copy. */
async function warm(cache: StampedeCacheService, key: string, load: () => unknown = never): Promise<unknown> {
  const before = cache.stats().l1.hits;
  let value: unknown;
  await until(
    async () => {
      value = await cache.getOrLoad(key, load);
      return cache.stats().l1.hits > before;
    },
    { what: 'a hit of a copy' },
  );
  return value;
}

const getsOf = async (run: () => Promise<void>): Promise<number> =>
  (await server.countCommands(run))['get'] ?? 0;

describe('copies in the process', () => {
  it('answer without asking Redis', async () => {
    const [cache] = await pair();
    await warm(cache, 'k', () => ({ n: 1 }));
    const gets = await getsOf(async () => {
      for (let i = 0; i < 500; i++) expect(await cache.getOrLoad('k', never)).toEqual({ n: 1 });
    });
    // A slow machine may let a proof come late.
    expect(gets).toBeLessThan(50);
  });

  it('are each caller’s own, or one frozen value', async () => {
    const [cache] = await pair();
    await warm(cache, 'k', () => ({ n: [1] }));
    const value = await cache.getOrLoad<{ n: number[] }>('k', never);
    value.n.push(2);
    expect(await cache.getOrLoad('k', never)).toEqual({ n: [1] });

    const shared = { ...POLICY, shared: true };
    const [one, other] = [
      await cache.getOrLoad('k', never, shared),
      await cache.getOrLoad('k', never, shared),
    ];
    expect(one).toEqual({ n: [1] });
    await until(
      async () => (await cache.getOrLoad('k', never, shared)) === (await cache.getOrLoad('k', never, shared)),
    );
    expect(Object.isFrozen(one) && Object.isFrozen(other)).toBe(true);
  });

  it.each<[string, (by: StampedeCacheService) => Promise<void>]>([
    ['an invalidation', (by) => by.invalidate('k')],
    ['an invalidation of its tag', (by) => by.invalidateTags('t')],
    ['a clear', (by) => by.clear()],
  ])('are dropped by %s in another process within maxLag, and in this one at once', async (_what, change) => {
    const policy = { ...POLICY, tags: ['t'] };
    const [cache, other] = await pair();
    let row = 1;
    const read = () => cache.getOrLoad('k', () => row, policy);
    const hits = cache.stats().l1.hits;
    await until(async () => (await read()) === 1 && cache.stats().l1.hits > hits);
    row = 2;
    await change(other);
    const resolved = performance.now();
    await until(async () => (await read()) === 2, { timeout: MAX_LAG + PAUSE });
    expect(performance.now() - resolved).toBeLessThan(MAX_LAG + PAUSE);
    row = 3;
    await until(async () => (await read()) === 2 && cache.stats().l1.hits > hits + 1);
    await change(cache);
    expect(await read()).toBe(3);
  });

  it('are dropped by a set, and by a soft expiry: the next reader gets the old value as a stale one', async () => {
    const [cache, other] = await pair();
    await warm(cache, 'k', () => 1);
    await other.set('k', 2);
    await until(async () => (await cache.getOrLoad('k', never)) === 2, { timeout: MAX_LAG + PAUSE });

    const policy = { ...POLICY, stale: '10m' } as const;
    await warm(cache, 'k');
    await other.expire('k');
    const outcomes = async () => (await cache.getOrLoadEntry('k', () => 3, policy)).outcome;
    await until(async () => (await outcomes()) === 'stale', { timeout: MAX_LAG + PAUSE });
    await until(async () => (await cache.getOrLoad('k', never, policy)) === 3);
  });

  it('hear of a process that keeps none', async () => {
    const [cache, other] = await pair(false);
    await warm(cache, 'k', () => 1);
    await other.invalidate('k');
    await until(async () => (await cache.getOrLoad('k', () => 2)) === 2, { timeout: MAX_LAG + PAUSE });
    expect(other.stats().l1).toEqual({
      entries: 0,
      bytes: 0,
      hits: 0,
      flushes: 0,
    });
  });

  it('are kept of negative entries too', async () => {
    const [cache] = await pair();
    await warm(cache, 'gone', () => null);
    expect(await cache.getOrLoad('gone', never)).toBeNull();
    expect((await cache.getOrLoadEntry('gone', never)).outcome).toBe('negative');
  });

  it('are kept as the policy says: none, some, or as the module has it', async () => {
    const namespace = freshNamespace();
    const [off, on] = [await cacheOn({ namespace, l1: false }), await cacheOn({ namespace })];
    const read = (cache: StampedeCacheService, l1?: boolean | { ttl: string }) =>
      cache.getOrLoad('k', () => 1, { ...POLICY, ...(l1 !== undefined && { l1: l1 as boolean }) });
    for (let i = 0; i < 20; i++) {
      await read(off);
      await read(on, false);
    }
    expect(off.stats().l1.hits + on.stats().l1.hits).toBe(0);
    await until(async () => (await read(off, true)) === 1 && off.stats().l1.hits > 0);
    await until(async () => (await read(on, { ttl: '20ms' })) === 1 && on.stats().l1.hits > 0);
  });

  it('are not shown after a fresh load of this process that knows better', async () => {
    const [cache] = await pair();
    await warm(cache, 'k', () => 1);
    expect(await cache.getOrLoad('k', () => 2, POLICY, { fresh: true })).toBe(2);
    expect(await cache.getOrLoad('k', never)).toBe(2);
  });

  it('are believed by each reader for as long as its own policy says', async () => {
    const namespace = freshNamespace();
    const [cache, other] = [await cacheOn({ namespace }), await cacheOn({ namespace })];
    await warm(cache, 'k', () => 1);
    await server.client().flushall();
    await other.getOrLoad('k', () => 2);
    await until(async () => (await cache.getOrLoad('k', never, { ...POLICY, l1: { ttl: '50ms' } })) === 2);
  });

  it('are not believed for longer than their ttl: Redis may drop entries without a word', async () => {
    const namespace = freshNamespace();
    const cache = await cacheOn({ namespace, l1: { ttl: 100 } });
    await warm(cache, 'k', () => 1);
    await server.client().flushall();
    await until(async () => (await cache.getOrLoad('k', () => 2)) === 2);
  });

  it('do not keep an entry fresh that a process in between has refreshed early', async () => {
    const [cache, other] = await pair();
    const policy = { ttl: '10m', earlyRefresh: { window: '10m' }, jitter: 0 } as const;
    let row = 1;
    const read = (by: StampedeCacheService) => by.getOrLoad('k', () => row, policy);
    await until(async () => (await read(cache)) === 1 && cache.stats().l1.hits > 0);
    row = 2;
    await until(async () => (await read(other)) === 2, { what: 'an early refresh elsewhere' });
    await until(async () => (await read(cache)) === 2, { what: 'the refreshed value' });
  });
});

describe('copies while messages do not arrive', () => {
  /** A cache whose subscriber goes by a proxy, and what it was told. */
  async function behindProxy(): Promise<{
    readonly cache: StampedeCacheService;
    readonly other: StampedeCacheService;
    readonly proxy: TcpProxy;
    readonly events: StampedeCacheEvent[];
  }> {
    const namespace = freshNamespace();
    const proxy = await TcpProxy.start({ port: server.port });
    const client = server.client();
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (override?: Partial<RedisOptions>) => duplicate({ ...override, port: proxy.port });
    const cache = await cacheOn({ redis: client, namespace });
    const other = await cacheOn({ namespace });
    const events: StampedeCacheEvent[] = [];
    cache.events$.subscribe((event) => events.push(event));
    return { cache, other, proxy, events };
  }

  it('are not believed any more after maxLag: a half-open link', async () => {
    const { cache, other, proxy } = await behindProxy();
    try {
      await warm(cache, 'k', () => 1);
      proxy.blackHole('replies');
      await other.set('k', 2);
      const since = performance.now();
      await until(async () => (await cache.getOrLoad('k', never)) === 2);
      expect(performance.now() - since).toBeLessThan(MAX_LAG + PAUSE);
    } finally {
      proxy.resume();
      await proxy.close();
    }
  });

  it('are dropped when the link breaks, with an event', async () => {
    const { cache, other, proxy, events } = await behindProxy();
    try {
      await warm(cache, 'k', () => 1);
      proxy.refuse();
      proxy.cut();
      await until(() => events.some(({ type }) => type === 'l1.flush'));
      expect(cache.stats().l1.entries).toBe(0);
      await other.set('k', 2);
      expect(await cache.getOrLoad('k', never)).toBe(2);
      proxy.resume();
      await warm(cache, 'k');
    } finally {
      await proxy.close();
    }
  });
});

describe('a read under way when a change is told', () => {
  it('makes no copy: none is wrong at rest', async () => {
    const namespace = freshNamespace();
    const proxy = await TcpProxy.start({ port: server.port });
    // Data comes late, messages do not: the reply of a read is older than the message that overtook it.
    const client = server.client({ port: proxy.port });
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (override?: Partial<RedisOptions>) => duplicate({ ...override, port: server.port });
    try {
      const cache = await cacheOn({ redis: client, namespace });
      const other = await cacheOn({ namespace, l1: false });
      const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
      const rows = new Map(keys.map((key) => [key, 0]));
      for (const key of keys) await other.set(key, 0);
      await warm(cache, 'k0');
      proxy.delayReplies(() => 8);
      let reading = true;
      const readers = keys.map(async (key) => {
        while (reading) await cache.getOrLoad(key, never);
      });
      for (let n = 1; n <= 15; n++) {
        await Promise.all(
          keys.map(async (key) => {
            rows.set(key, n);
            await other.set(key, n);
          }),
        );
      }
      reading = false;
      await Promise.all(readers);
      proxy.resume();
      await until(() => cache.stats().l1.hits > 100);
      const wrong: string[] = [];
      for (const key of keys) {
        const value = await until(async () => ({ value: await cache.getOrLoad(key, never) }));
        if (value.value !== rows.get(key)) wrong.push(key);
      }
      expect(wrong).toEqual([]);
    } finally {
      await proxy.close();
    }
  });
});
