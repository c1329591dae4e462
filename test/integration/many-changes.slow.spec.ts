import { setTimeout as delay } from 'node:timers/promises';
import { createRedisStore } from '../../lib/redis/index.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';
import { Process } from '../contract/cache/lab.js';
import { RedisServer } from '../support/redis-server.js';

describe('many changes in one call', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  for (const [count, what] of [
    [20_000, 'keys'],
    [20_000, 'tags'],
  ] as const) {
    it(`${count} ${what} in one invalidation are all acknowledged by a healthy server`, async () => {
      const runtime = createNodeRuntime({ log: { info: () => undefined, warn: () => undefined } });
      const lab = {
        runtime,
        openStore: () => createRedisStore({ connection: server.url, namespace: `many-${what}`, runtime }),
        advance: (ms: number) => delay(ms),
        warnings: [],
        close: async () => undefined,
      };
      const a = await Process.open(lab);
      const ids = Array.from({ length: count }, (_, i) => `k${i}`);
      const error: unknown = await (
        what === 'keys'
          ? a.cache.changes.invalidate(ids.map((id) => a.about(id)))
          : a.cache.changes.invalidateTags(ids)
      ).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const failed = (error as { keys?: string[] } | undefined)?.keys?.length ?? 0;
      await a.close();
      expect(failed).toBe(0);
    });
  }
});
