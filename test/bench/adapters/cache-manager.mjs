/** cache-manager: `wrap`. Nearest to a stale window is `refreshThreshold`: refresh ahead, within a ttl that is longer by it. */
import { createCache } from 'cache-manager';
import { KeyvCacheableMemory } from 'cacheable';
import { Keyv } from 'keyv';
import { redisKeyv } from './keyv.mjs';

export async function create({ url, namespace, timeoutMs, tiers = false }) {
  const redis = await redisKeyv(url, namespace, timeoutMs);
  const memory = () => new Keyv({ store: new KeyvCacheableMemory({ lruSize: 10_000 }) });
  const cache = createCache({ stores: tiers ? [memory(), redis] : [redis] });
  return {
    using({ ttlMs, staleMs = 0 }) {
      const threshold = staleMs > 0 ? staleMs : undefined;
      return (key, load) => cache.wrap(key, load, ttlMs + staleMs, threshold);
    },
    usingMany({ ttlMs }) {
      return async (ids, load) => {
        const values = await cache.mget(ids);
        const missing = ids.filter((_, index) => values[index] === undefined);
        if (missing.length === 0) return new Map(ids.map((id, index) => [id, values[index]]));
        const loaded = await load(missing);
        await cache.mset([...loaded].map(([key, value]) => ({ key, value, ttl: ttlMs })));
        return loaded;
      };
    },
    close: () => cache.disconnect(),
  };
}
