/** The limit: one GET and one JSON.parse a call; MGET or a pipeline for many. No protection of any kind. */
import { useAsyncStorage } from './async-storage.mjs';
import { connect } from './client.mjs';

export async function create({ url, namespace, autoPipeline = false, many = 'mget', asyncStorage = false }) {
  if (asyncStorage) useAsyncStorage();
  const redis = await connect(url, undefined, { enableAutoPipelining: autoPipeline });
  const keyOf = (key) => `${namespace}:${key}`;

  async function readMany(keys) {
    if (many === 'mget') return redis.mget(keys);
    const pipeline = redis.pipeline();
    for (const key of keys) pipeline.get(key);
    return (await pipeline.exec()).map(([, text]) => text);
  }

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
    usingMany({ ttlMs }) {
      return async (ids, load) => {
        const texts = await readMany(ids.map(keyOf));
        const missing = ids.filter((_, index) => texts[index] === null);
        if (missing.length === 0) return new Map(ids.map((id, index) => [id, JSON.parse(texts[index])]));
        const loaded = await load(missing);
        const pipeline = redis.pipeline();
        for (const [id, value] of loaded) pipeline.set(keyOf(id), JSON.stringify(value), 'PX', ttlMs);
        await pipeline.exec();
        return loaded;
      };
    },
    close: () => redis.disconnect(),
  };
}
