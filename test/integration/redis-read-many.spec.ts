import type { EntryKey } from '../../lib/core/keys/index.js';
import { CacheClient } from './fleet/cache-client.js';
import { freshKey } from '../contract/subject.js';
import { RedisServer } from '../support/redis-server.js';

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

  it('come one by one where the user may not MGET, without a second refusal', async () => {
    const guarded = await RedisServer.start({
      users: ['default on nopass ~* &* +@all', 'app on >secret ~* &* +@all -mget'],
    });
    try {
      const cache = await client(guarded.url.replace('redis://', 'redis://app:secret@'));
      const keys = keysOf(20);
      await all(cache, keys, (key) => key);
      const admin = guarded.client();
      expect(await all(cache, keys)).toEqual(keys);
      await admin.call('ACL', 'LOG', 'RESET');
      expect(await all(cache, keys)).toEqual(keys);
      expect(await admin.call('ACL', 'LOG')).toEqual([]);
    } finally {
      await guarded.stop();
    }
  });
});
