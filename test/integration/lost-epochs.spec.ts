import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createRedisStore } from '../../lib/redis/index.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';
import type { Lab } from '../contract/cache/lab.js';
import { Subject } from '../contract/cache/subject.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const LAG = 100;
const EPOCHS = 'shop:epochs';

describe('a clear whose epoch the server lost', () => {
  let server: RedisServer;
  let admin: Redis;
  let subject: Subject;

  beforeAll(async () => {
    server = await RedisServer.start();
    admin = new Redis(server.url);
  });
  beforeEach(async () => {
    await admin.flushall();
    const runtime = createNodeRuntime({ log: { info: () => undefined, warn: () => undefined } });
    const lab: Lab = {
      runtime,
      openStore: () => createRedisStore({ connection: server.url, namespace: 'shop', runtime }),
      advance: (ms) => delay(ms),
      warnings: [],
      close: async () => undefined,
    };
    subject = new Subject(lab);
  });
  afterEach(() => subject.close());
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });

  const open = () => subject.process({ coherence: { maxLag: LAG } });

  it('revives nothing where it is known, and is told to the server again for those who come', async () => {
    const a = await open();
    await a.get('k', () => 'old');
    const { key } = a.about('k');
    const bytes = (await a.store.read(key)) as Buffer;
    await a.cache.changes.clear();
    const before = await a.store.epochs();
    await admin.del(EPOCHS);
    await a.store.write(key, bytes, 60_000);
    await until(async () => (await a.peek('k'), (await a.store.epochs()).size > 0), {
      what: 'the epoch to be told again',
    });

    expect(await a.store.epochs()).toEqual(before);
    expect(await a.peek('k')).toBeUndefined();
    expect(await (await open()).peek('k')).toBeUndefined();
  });

  it('clears nothing that was loaded since', async () => {
    const a = await open();
    await a.cache.changes.clear();
    await a.get('k', () => 'new');
    await admin.del(EPOCHS);
    await delay(LAG);

    expect((await a.peek('k'))?.value).toBe('new');
    expect((await (await open()).peek('k'))?.value).toBe('new');
  });

  it('keeps the key without a life, and everything else with one', async () => {
    const a = await open();
    await a.get('k', () => 'v', { tags: ['t'], valueTags: () => ['u'] });
    await a.cache.changes.invalidateTags(['t', 'w']);
    await a.cache.changes.clear();
    const keys = await admin.keys('shop:*');
    const lives = await Promise.all(keys.map(async (name) => [name, await admin.pttl(name)] as const));

    expect(keys).toContain(EPOCHS);
    expect(lives.filter(([, ms]) => ms < 0).map(([name]) => name)).toEqual([EPOCHS]);
  });
});
