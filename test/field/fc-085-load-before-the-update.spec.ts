import { deferred } from '../support/deferred.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { field } from './support/field.js';

const here = field();

type Cache = App['cache'];
type Policy = Parameters<Cache['getOrLoad']>[2];

/** How the change is announced, and what the load says of itself. */
type Way = readonly [what: string, policy: Policy, announce: (cache: Cache) => Promise<void>];

const BY_KEY: readonly Way[] = [
  ['invalidate', {}, (cache) => cache.invalidate('k')],
  ['invalidate, held off', {}, (cache) => cache.invalidate('k', { holdOff: '1ms' })],
  ['expire', {}, (cache) => cache.expire('k')],
];
/** These don't know the keys: a load under way is not taken away from its process, only what it brings. */
const BY_KIND: readonly Way[] = [
  ['invalidateTags', { tags: ['t'] }, (cache) => cache.invalidateTags('t')],
  [
    'invalidateTags of a tag told of by the value',
    { valueTags: () => ['t'] },
    (cache) => cache.invalidateTags('t'),
  ],
  ['clear', {}, (cache) => cache.clear()],
  ['clear, with tags', { tags: ['t'], valueTags: () => ['u'] }, (cache) => cache.clear()],
];

const WAYS = [...BY_KEY, ...BY_KIND];

/** What becomes of the link of the loading process between its read and its write. */
const LINKS: readonly (readonly [string, (proxy: TcpProxy, app: App) => Promise<void>])[] = [
  ['stays', async () => undefined],
  [
    'was cut and restored',
    async (proxy, app) => {
      proxy.refuse();
      proxy.cut();
      await app.happened('redis.down');
      proxy.resume();
      await app.happened('redis.up');
    },
  ],
];

async function start(): Promise<{ proxy: TcpProxy; loading: App; writing: App; reading: App }> {
  const proxy = await TcpProxy.start({ port: here.redis.port });
  here.atEnd(() => proxy.close());
  const loading = await here.app({ cache: { redis: proxy.url } });
  return { proxy, loading, writing: await here.app(), reading: await here.app() };
}

describe.each(LINKS)('FC-085: a load read before the update; the link of its process %s', (_, meanwhile) => {
  it.each(WAYS)('its old row is never given to a later call: %s', async (what, policy, announce) => {
    const { proxy, loading, writing, reading } = await start();
    let row = 'old';
    const [hasRead, go] = [deferred(), deferred()];
    const slow = async () => {
      const read = row;
      hasRead.resolve();
      await go.promise;
      return read;
    };
    const early = loading.cache.getOrLoad('k', slow, policy);
    await hasRead.promise;
    row = 'new';
    await announce(writing.cache);
    await meanwhile(proxy, loading);
    // Begun before the old load is through.
    const beside = reading.cache.getOrLoad('k', () => row, policy);
    // Where the change took the load's lease, it is not even waited for.
    if (BY_KEY.some(([way]) => way === what)) await beside;
    go.resolve();
    expect(await beside).toBe('new');
    expect(['old', 'new']).toContain(await early);
    await until(() => Object.values(loading.cache.stats().publishes).some((count) => count > 0), {
      what: 'the old load to be through',
    });
    for (const { cache } of [reading, writing, loading]) {
      expect(await cache.getOrLoad('k', () => row, policy)).toBe('new');
    }
    for (const name of await here.entries()) expect(await here.raw.get(name)).not.toContain('old');
  });

  it.each(WAYS)('nor where nobody loaded in between: %s', async (_way, policy, announce) => {
    const { proxy, loading, writing, reading } = await start();
    let row = 'old';
    const [hasRead, go] = [deferred(), deferred()];
    const early = loading.cache.getOrLoad(
      'k',
      async () => {
        const read = row;
        hasRead.resolve();
        await go.promise;
        return read;
      },
      policy,
    );
    await hasRead.promise;
    row = 'new';
    await announce(writing.cache);
    await meanwhile(proxy, loading);
    go.resolve();
    expect(['old', 'new']).toContain(await early);
    for (const { cache } of [reading, writing, loading]) {
      expect(await cache.getOrLoad('k', () => row, policy)).toBe('new');
    }
  });
});

describe('FC-085: a load that is slower than its lease', () => {
  it.each(WAYS)('is fenced for as long as it runs: %s', async (_way, policy, announce) => {
    const { loading, writing, reading } = await start();
    let row = 'old';
    const [hasRead, go] = [deferred(), deferred()];
    const LEASE = 100;
    const early = loading.cache.getOrLoad(
      'k',
      async () => {
        const read = row;
        hasRead.resolve();
        await go.promise;
        return read;
      },
      { ...policy, lease: LEASE },
    );
    await hasRead.promise;
    row = 'new';
    await announce(writing.cache);
    const announced = performance.now();
    await until(() => performance.now() > announced + 4 * LEASE, {
      what: 'several leases to pass',
      every: 20,
    });
    go.resolve();
    await early;
    for (const { cache } of [reading, writing, loading]) {
      expect(await cache.getOrLoad('k', () => row, policy)).toBe('new');
    }
  });
});
