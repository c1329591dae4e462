/** @epic-web/cachified over ioredis, for which it ships no adapter; or over lru-cache, as its own documentation has it. */
import { cachified, totalTtl } from '@epic-web/cachified';
import { LRUCache } from 'lru-cache';
import { connect } from './client.mjs';

export async function create({ url, namespace, timeoutMs, memory = false }) {
  const redis = memory ? undefined : await connect(url, timeoutMs);
  const cache = memory ? lruOf() : redisOf(redis, namespace);
  return {
    using({ ttlMs, staleMs = 0 }) {
      return (key, load) => cachified({ key, cache, ttl: ttlMs, swr: staleMs, getFreshValue: () => load() });
    },
    close: () => redis?.disconnect(),
  };
}

function lruOf() {
  const lru = new LRUCache({ max: 10_000 });
  return {
    name: 'lru-cache',
    get: (key) => lru.get(key),
    set: (key, entry) => lru.set(key, entry),
    delete: (key) => lru.delete(key),
  };
}

function redisOf(redis, namespace) {
  const keyOf = (key) => `${namespace}:${key}`;
  return {
    name: 'ioredis',
    async get(key) {
      const text = await redis.get(keyOf(key));
      return text === null ? null : JSON.parse(text);
    },
    set(key, entry) {
      const ttl = totalTtl(entry.metadata);
      const life = ttl === Infinity ? [] : ['PX', Math.max(1, Math.ceil(ttl))];
      return redis.set(keyOf(key), JSON.stringify(entry), ...life);
    },
    delete: (key) => redis.del(keyOf(key)),
  };
}
