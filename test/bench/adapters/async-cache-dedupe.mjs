/** async-cache-dedupe: a defined function. Whole seconds only; one storage: Redis or memory. */
import { createCache } from 'async-cache-dedupe';
import { connect } from './client.mjs';

export async function create({ url, namespace, timeoutMs, memory = false }) {
  const client = memory ? undefined : await connect(url, timeoutMs, { keyPrefix: `${namespace}:` });
  const storage = memory
    ? { type: 'memory', options: { size: 10_000 } }
    : { type: 'redis', options: { client } };
  const cache = createCache({ storage });
  const defined = new Set();
  return {
    using({ ttlMs, staleMs = 0 }) {
      const [ttl, stale] = [ttlMs, staleMs].map((ms) => Math.ceil(ms / 1_000));
      const name = `for${ttl}and${stale}`;
      if (!defined.has(name)) {
        cache.define(name, { ttl, stale, serialize: ({ key }) => key }, ({ load }) => load());
        defined.add(name);
      }
      return (key, load) => cache[name]({ key, load });
    },
    close: () => client?.disconnect(),
  };
}
