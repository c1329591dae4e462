/** cacheable: `wrap`. It has no stale window. */
import { Cacheable, createKeyv as memoryKeyv } from 'cacheable';
import { redisKeyv } from './keyv.mjs';

export async function create({ url, namespace, timeoutMs, tiers = false }) {
  const redis = await redisKeyv(url, namespace, timeoutMs);
  const cache = tiers
    ? new Cacheable({ primary: memoryKeyv({ lruSize: 10_000 }), secondary: redis })
    : new Cacheable({ primary: redis });
  cache.on('error', () => undefined);
  return {
    using({ ttlMs }) {
      return cache.wrap((_key, load) => load(), { ttl: ttlMs, createKey: (_wrapped, [key]) => key });
    },
    usingMany({ ttlMs }) {
      return async (ids, load) => {
        const values = await cache.getMany(ids);
        const missing = ids.filter((_, index) => values[index] === undefined);
        if (missing.length === 0) return new Map(ids.map((id, index) => [id, values[index]]));
        const loaded = await load(missing);
        await cache.setMany([...loaded].map(([key, value]) => ({ key, value, ttl: ttlMs })));
        return loaded;
      };
    },
    close: () => cache.disconnect(),
  };
}
