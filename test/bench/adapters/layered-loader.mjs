/**
 * layered-loader: a `Loader` for each ttl. Nearest to a stale window is `ttlLeftBeforeRefreshInMsecs`: refresh ahead, within a ttl
 * that is longer by it.
 */
import { createNotificationPair, Loader, RedisCache } from 'layered-loader';
import { connect } from './client.mjs';

const QUIET = { error() {}, info() {}, warn() {}, debug() {} };

export async function create({ url, namespace, timeoutMs, tiers = false }) {
  const redis = await connect(url, timeoutMs);
  const clients = [redis];
  const loaders = new Map();

  async function busOf(id) {
    const [publisherRedis, consumerRedis] = [await connect(url, timeoutMs), await connect(url)];
    clients.push(publisherRedis, consumerRedis);
    return createNotificationPair({ channel: `${namespace}-${id}`, publisherRedis, consumerRedis });
  }
  // Made beforehand: `using` is not asynchronous.
  const buses = tiers ? [await busOf(0), await busOf(1), await busOf(2)] : [];

  function loaderOf(ttlMs, staleMs, own = {}) {
    const refresh = staleMs > 0 ? { ttlLeftBeforeRefreshInMsecs: staleMs } : {};
    const bus = buses[loaders.size % Math.max(1, buses.length)];
    return new Loader({
      logger: QUIET,
      asyncCache: new RedisCache(redis, {
        json: true,
        prefix: namespace,
        ttlInMsecs: ttlMs + staleMs,
        ...refresh,
      }),
      cacheKeyFromLoadParamsResolver: ({ key }) => key,
      dataSourceGetOneFn: ({ load }) => load(),
      ...own,
      ...(bus && {
        inMemoryCache: { ttlInMsecs: ttlMs, maxItems: 10_000 },
        notificationPublisher: bus.publisher,
        notificationConsumer: bus.consumer,
      }),
    });
  }

  return {
    using({ ttlMs, staleMs = 0 }) {
      const id = `${ttlMs}/${staleMs}`;
      if (!loaders.has(id)) loaders.set(id, loaderOf(ttlMs, staleMs));
      const loader = loaders.get(id);
      return (key, load) => loader.get({ key, load });
    },
    usingMany({ ttlMs }) {
      const loader = loaderOf(ttlMs, 0, {
        cacheKeyFromLoadParamsResolver: (id) => id,
        cacheKeyFromValueResolver: ({ id }) => id,
        dataSourceGetManyFn: async (ids, load) => [...(await load(ids)).values()],
      });
      return (ids, load) => loader.getMany(ids, load);
    },
    close: () => clients.forEach((client) => client.disconnect()),
  };
}
