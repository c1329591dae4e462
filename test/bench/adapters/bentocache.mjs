/** bentocache: `getOrSet`. The stale window is `grace`, which counts from the write. */
import { BentoCache, bentostore } from 'bentocache';
import { memoryDriver } from 'bentocache/drivers/memory';
import { redisBusDriver, redisDriver } from 'bentocache/drivers/redis';
import { Redis } from 'ioredis';
import { connect } from './client.mjs';

export async function create({ url, namespace, timeoutMs, tiers = false }) {
  const connection = await connect(url, timeoutMs, {}, Redis);
  let store = bentostore();
  if (tiers) store = store.useL1Layer(memoryDriver({ maxItems: 10_000 }));
  store = store.useL2Layer(redisDriver({ connection }));
  if (tiers) store = store.useBus(redisBusDriver({ connection }));
  const bento = new BentoCache({ default: 'bench', prefix: namespace, stores: { bench: store } });
  return {
    using({ ttlMs, staleMs = 0 }) {
      const grace = staleMs > 0 ? ttlMs + staleMs : false;
      return (key, load) => bento.getOrSet({ key, factory: load, ttl: ttlMs, grace });
    },
    async close() {
      await bento.disconnectAll().catch(() => undefined);
      connection.disconnect();
    },
  };
}
