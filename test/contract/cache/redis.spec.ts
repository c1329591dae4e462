import { setTimeout as delay } from 'node:timers/promises';
import { createRedisStore } from '../../../lib/redis/index.js';
import { createNodeRuntime } from '../../../lib/runtime/index.js';
import { RedisServer } from '../../support/redis-server.js';
import { cacheContract } from './cache-contract.js';

let server: RedisServer;
let labs = 0;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

cacheContract('redis', async () => {
  const warnings: string[] = [];
  const runtime = createNodeRuntime({
    log: { info: () => undefined, warn: (line) => void warnings.push(line) },
  });
  labs += 1;
  const namespace = `lab-${labs}`;
  return {
    runtime,
    openStore: () => createRedisStore({ connection: server.url, namespace, runtime }),
    // A server's time can only be waited for.
    advance: (ms) => delay(ms),
    warnings,
    close: async () => undefined,
  };
});
