import { createKeyv } from '@keyv/redis';

/** The Redis store of cacheable and cache-manager, which is node-redis, with its first connection made. */
export async function redisKeyv(url, namespace, timeoutMs) {
  const client = timeoutMs ? { url, disableOfflineQueue: true, commandOptions: { timeout: timeoutMs } } : url;
  const keyv = createKeyv(client, { namespace });
  keyv.on('error', () => undefined);
  keyv.store.on?.('error', () => undefined);
  await keyv.get('connect');
  return keyv;
}
