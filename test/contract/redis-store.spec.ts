import { setTimeout as delay } from 'node:timers/promises';
import { createRedisStore } from '../../lib/redis/index.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';
import { RedisServer } from '../support/redis-server.js';
import { storeContract } from './store-contract.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

storeContract('redis', async () => {
  const runtime = createNodeRuntime({ log: { info: () => undefined, warn: () => undefined } });
  const make = () =>
    createRedisStore({ connection: server.url, namespace: 'contract', runtime, maxLag: 400 });
  const [store, second] = await Promise.all([make(), make()]);
  return {
    store,
    second,
    // A server's time can only be waited for.
    advance: (ms) => delay(ms),
    close: async () => {
      await Promise.all([store.close(), second.close()]);
    },
  };
});
