import type { EntryKey } from '../../lib/core/keys/index.js';
import { CacheClient } from './fleet/cache-client.js';
import { freshKey } from '../contract/subject.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const POLICY = { ttl: '1m', earlyRefresh: 0 } as const;
const never = (): never => {
  throw new Error('nothing was to be loaded');
};

let server: RedisServer;
const open: CacheClient[] = [];

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});

async function client(url = server.url, namespace = `many-${freshKey().id}`): Promise<CacheClient> {
  const made = await CacheClient.open({ url, namespace, options: { redisTimeout: '5s' } });
  open.push(made);
  return made;
}

const all = (cache: CacheClient, keys: readonly string[], load: (key: string) => unknown = never) =>
  Promise.all(keys.map(async (key) => (await cache.entry(key, () => load(key), POLICY)).value));

const keysOf = (count: number): string[] => Array.from({ length: count }, (_, n) => `k${n}`);

describe('reads of many keys in one turn', () => {
  it('leave in one command, and each gets its own', async () => {
    const cache = await client();
    const keys = keysOf(50);
    await all(cache, keys, (key) => ({ key }));
    const counts = await server.countCommands(async () => {
      expect(await all(cache, keys)).toEqual(keys.map((key) => ({ key })));
    });
    expect(counts).toMatchObject({ mget: 1 });
    expect(counts['get']).toBeUndefined();
  });

  it('leave in several commands where there are very many, or where entries are big', async () => {
    const cache = await client();
    const keys = keysOf(250);
    await all(cache, keys, (key) => key);
    expect(await server.countCommands(async () => void (await all(cache, keys)))).toMatchObject({ mget: 3 });

    const big = ['a', 'b', 'c', 'd'];
    await all(cache, big, (key) => key.repeat(200_000));
    for (let i = 0; i < 16; i++) await all(cache, big);
    const counts = await server.countCommands(async () => {
      expect(await all(cache, big)).toEqual(big.map((key) => key.repeat(200_000)));
    });
    expect(counts).toMatchObject({ get: 4 });
    expect(counts['mget']).toBeUndefined();
  });

  it('are misses where nothing, or something of another type, is there', async () => {
    const cache = await client();
    await all(cache, ['there'], () => 1);
    const id = (key: string): EntryKey['id'] => cache.idOf(key);
    const namespace = (await server.client().keys(`*${id('there')}*`))[0]?.split(':d:')[0] ?? '';
    await server.client().lpush(`${namespace}:d:{${id('list')}}`, 'x');
    expect(await all(cache, ['there', 'absent', 'list'], (key) => `loaded ${key}`)).toEqual([
      1,
      'loaded absent',
      'loaded list',
    ]);
  });

  it('are read one by one once they are known to be big: others need not wait for them', async () => {
    const cache = await client();
    const small = keysOf(20);
    await all(cache, small, (key) => key);
    await all(cache, ['big'], () => 'x'.repeat(100_000));
    await all(cache, ['big']);
    const counts = await server.countCommands(async () => void (await all(cache, ['big', ...small])));
    expect(counts).toMatchObject({ mget: 1, get: 1 });
  });

  const refusing: readonly (readonly [string, Parameters<typeof RedisServer.start>[0], string])[] = [
    [
      'the user may not MGET',
      { users: ['default on nopass ~* &* +@all', 'app on >secret ~* &* +@all -mget'] },
      'app:secret@',
    ],
    ['there is no MGET', { args: ['--rename-command', 'MGET', ''] }, ''],
    ['the keys lie in many slots of one server', { args: ['--cluster-enabled', 'yes'] }, ''],
  ];
  it.each(refusing)('come one by one where %s, without a second refusal', async (_why, options, user) => {
    const guarded = await RedisServer.start(options);
    try {
      const admin = guarded.client();
      if (options?.args?.includes('--cluster-enabled') === true) {
        await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
        await until(async () => String(await admin.call('CLUSTER', 'INFO')).includes('cluster_state:ok'));
      }
      const cache = await client(guarded.url.replace('redis://', `redis://${user}`));
      const keys = keysOf(20);
      await all(cache, keys, (key) => key);
      expect(await all(cache, keys)).toEqual(keys);
      const counts = await guarded.countCommands(async () => {
        expect(await all(cache, keys)).toEqual(keys);
      });
      expect(counts).toMatchObject({ get: 20 });
      expect(counts['mget']).toBeUndefined();
      expect(cache.cache.stats().storeFailures).toBe(0);
    } finally {
      await guarded.stop();
    }
  });
});
