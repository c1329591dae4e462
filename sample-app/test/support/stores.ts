import { RedisServer } from '../../../test/support/redis-server.js';

export interface Store {
  readonly redisUrl?: string;
  stop(): Promise<void>;
}

/** For `describe.each`: the shop keeps its promises on both. */
export const stores: readonly (readonly [name: string, start: () => Promise<Store>])[] = [
  ['the in-process store', async () => ({ stop: async () => undefined })],
  ['Redis', startRedis],
];

export async function startRedis(): Promise<Required<Store>> {
  const redis = await RedisServer.start();
  return { redisUrl: redis.url, stop: () => redis.stop() };
}
