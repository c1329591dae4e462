/** Plain cache-aside: GET, else load and SET. What most code bases begin with. */
import { connect } from './client.mjs';

export async function create({ url, namespace, timeoutMs }) {
  const redis = await connect(url, timeoutMs);
  const keyOf = (key) => `${namespace}:${key}`;
  return {
    using({ ttlMs }) {
      return async (key, load) => {
        const text = await redis.get(keyOf(key));
        if (text !== null) return JSON.parse(text);
        const value = await load();
        await redis.set(keyOf(key), JSON.stringify(value), 'PX', ttlMs);
        return value;
      };
    },
    close: () => redis.disconnect(),
  };
}
