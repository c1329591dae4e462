import { inspect } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  ConfigurationError,
  type RedisConnection,
  StampedeCacheModule,
  StampedeCacheService,
} from 'nestjs-stampede-cache';
import { CacheRegistry } from '../../lib/nest/stampede-cache.registry.js';
import { RedisServer } from '../support/redis-server.js';
import { boot, bootError, compile, Lines } from './kit.js';

/** What must stand nowhere. */
const [USER, PASSWORD, SENTINEL_PASSWORD] = ['alice-the-user', 'hunter2/p@ss', 'sentinel-hunter3'];
const SECRETS = [USER, PASSWORD, encodeURIComponent(PASSWORD), SENTINEL_PASSWORD, 'hunter'];
const auth = { username: USER, password: PASSWORD };

let server: RedisServer;
const mine: Redis[] = [];
const printed: string[] = [];

beforeAll(async () => {
  // The user exists, with another password: WRONGPASS. And one who may hardly do anything: NOPERM.
  server = await RedisServer.start({
    users: [`${USER} on >another ~* &* +@all`, `weak on >${PASSWORD} ~* &* +info +time +ping +hello +client`],
  });
});

afterAll(() => server.stop());

beforeEach(() => {
  printed.length = 0;
  for (const name of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    jest
      .spyOn(console, name)
      .mockImplementation((...what) => void printed.push(inspect(what, { depth: 10 })));
  }
});

afterEach(() => {
  jest.restoreAllMocks();
  for (const client of mine.splice(0)) client.disconnect();
});

function instance(options: object): Redis {
  const client = new Redis({ ...options, maxRetriesPerRequest: 1, disconnectTimeout: 50 });
  client.on('error', () => undefined);
  mine.push(client);
  return client;
}

const at = (port: number) => ({ host: '127.0.0.1', port });
const url = (port: number) => `redis://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/0`;

const FORMS: Readonly<Record<string, (port: number) => unknown>> = {
  'a URL': url,
  options: (port) => ({ ...at(port), ...auth }),
  'a Cluster': (port) => ({ nodes: [at(port)], options: { redisOptions: auth } }),
  'a Cluster of URLs': (port) => ({ nodes: [url(port)] }),
  Sentinel: (port) => ({
    sentinels: [at(port)],
    name: 'main',
    ...auth,
    sentinelUsername: USER,
    sentinelPassword: SENTINEL_PASSWORD,
  }),
  'an instance': (port) => instance({ ...at(port), ...auth }),
};

const ILLNESSES: Readonly<Record<string, () => number>> = {
  'a wrong password': () => server.port,
  'nobody listening': () => 1,
};

/** Everything an error shows, down its causes. */
function textsOf(error: unknown): string[] {
  const texts = [inspect(error, { depth: 10 }), JSON.stringify(error) ?? ''];
  if (!(error instanceof Error)) return texts;
  const own = Object.getOwnPropertyNames(error).map((name) =>
    inspect(Reflect.get(error, name), { depth: 10 }),
  );
  return [...texts, error.message, String(error.stack), ...own, ...(error.cause ? textsOf(error.cause) : [])];
}

function expectNoSecret(texts: readonly string[]): void {
  const all = [...texts, ...printed].join('\n');
  expect(all).not.toBe('');
  for (const secret of SECRETS) expect(all).not.toContain(secret);
}

@Injectable()
class Shop {
  constructor(readonly cache: StampedeCacheService) {}
}

const errorsOf = async (cache: StampedeCacheService): Promise<unknown[]> => {
  const outcomes = await Promise.allSettled([
    cache.getOrLoad('k', () => 1, { onRedisDown: 'error' }),
    cache.invalidate('k'),
    cache.invalidateTags('t'),
    cache.set('k', 1),
    cache.inspect('k'),
    cache.clear(),
  ]);
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
};

async function expectNoneOf(redis: RedisConnection, lines: Lines): Promise<void> {
  const options = { redis, namespace: 'shop', policy: { ttl: '1m' }, redisWriteTimeout: '200ms' } as const;
  const app = await boot({ imports: [StampedeCacheModule.forRoot(options)], providers: [Shop] }, lines);
  const cache = app.get(StampedeCacheService);
  const down: string[] = [];
  cache.events$.subscribe((event) => void down.push(inspect(event)));
  const errors = await errorsOf(cache);
  expect(errors.length).toBeGreaterThanOrEqual(5);
  const shown = [cache, app.get(Shop), app.get(CacheRegistry)].flatMap((what) => [
    JSON.stringify(what),
    inspect(what, { depth: 10 }),
    inspect({ it: { is: { deep: what } } }, { depth: 10, showHidden: true }),
  ]);
  expectNoSecret([...errors.flatMap(textsOf), ...shown, ...down]);
  await app.close();

  // With the same logger: Nest has one for all applications of a process.
  const required = StampedeCacheModule.forRoot({ ...options, requireRedis: true });
  const failed = await bootError({ imports: [required] }, lines);
  expect(failed.message).toMatch(/requireRedis/);
  expectNoSecret(textsOf(failed));
}

describe('No secret in logs, errors and what is shown of the cache', () => {
  it.each(Object.keys(ILLNESSES))('with every form of the connection, and %s', async (illness) => {
    const lines = new Lines();
    const port = ILLNESSES[illness]?.() ?? 0;
    const all = await Promise.allSettled(
      Object.values(FORMS).map((form) => expectNoneOf(form(port) as RedisConnection, lines)),
    );

    expect(all).toEqual(Object.keys(FORMS).map(() => ({ status: 'fulfilled', value: undefined })));
    const warnings = lines.ofCache('warn').filter((line) => line.includes('Redis is down'));
    expect(warnings.length).toBeGreaterThanOrEqual(all.length);
    expectNoSecret(lines.all.map(({ message }) => message));
  });
});

describe('No secret either', () => {
  it('with a user who may hardly do anything', async () => {
    const lines = new Lines();
    const redis = { ...at(server.port), username: 'weak', password: PASSWORD };
    const app = await boot({ imports: [StampedeCacheModule.forRoot({ redis, namespace: 'shop' })] }, lines);
    const errors = await errorsOf(app.get(StampedeCacheService));
    expect(errors.length).toBeGreaterThan(0);
    expectNoSecret([...errors.flatMap(textsOf), ...lines.all.map(({ message }) => message)]);
  });

  it.each<[string, () => unknown]>([
    ['a URL of another scheme', () => url(1).replace('redis:', 'http:')],
    ['a URL with a database that is none', () => `${url(1)}x`],
    ['options that are no options', () => ({ ...auth, url: url(1) })],
    ['a password that is none', () => ({ password: [PASSWORD] })],
    ['credentials in the place of a host', () => ({ host: { ...auth } })],
  ])('in the refusal of %s', async (_, redis) => {
    const error = await bootError({
      imports: [StampedeCacheModule.forRoot({ redis: redis() as string, namespace: 'shop' })],
    });
    expect(error).toBeInstanceOf(ConfigurationError);
    expectNoSecret(textsOf(error));
  });

  it('where the URL stands in the place of the options', async () => {
    for (const module of [
      StampedeCacheModule.forRoot(url(1) as never),
      StampedeCacheModule.forRootAsync({ useFactory: () => url(1) as never }),
    ]) {
      const error = await bootError({ imports: [module] });
      expect(error).toBeInstanceOf(ConfigurationError);
      expectNoSecret(textsOf(error));
    }
  });

  it('shows what a cache is', async () => {
    const app = await compile({ imports: [StampedeCacheModule.forRoot()] });
    const cache = app.get(StampedeCacheService);
    expect(inspect(cache)).toBe('StampedeCache <the default cache>');
    expect(JSON.stringify(cache)).toBe('{"cache":"the default cache","closed":false}');
  });
});

describe('Options that make no sense fail the bootstrap by name', () => {
  it.each<[object | string, RegExp]>([
    [{ port: 'abc' }, /redis: port is a port from 0 to 65535, received 'abc'/],
    [{ port: Number.NaN }, /redis: port .*received NaN/],
    [{ port: 70_000 }, /redis: port .*received 70000/],
    [{ host: 42 }, /redis: host is a text, received 42/],
    [{ host: '' }, /redis: host is a text/],
    [{ db: 'x' }, /redis: db is a whole number from 0, received 'x'/],
    [{ db: -1 }, /redis: db .*received -1/],
    [{ family: 5 }, /redis: family/],
    [{ password: 5 }, /redis: password is a text, received a value of type number/],
    [{ connectTimeout: '1s' }, /redis: connectTimeout is a number of milliseconds, received '1s'/],
    [{ sentinels: [] }, /redis: sentinels is a list/],
    [{ sentinels: [{ port: 1 }] }, /redis: sentinels need the name of the master/],
    [{ sentinels: [{ port: 'x' }], name: 'm' }, /redis\.sentinels\[0\]: port/],
    [{ nodes: [{ port: 1 }, { host: 1 }] }, /redis\.nodes\[1\]: host/],
    [{ nodes: [{ port: 1 }], options: { redisOptions: { db: 'x' } } }, /redis\.options\.redisOptions: db/],
    ['redis://localhost:6379/shop', /redis: the URL: db .*received 'shop'/],
    ['redis://localhost:6379?db=shop', /redis: the URL: db .*received 'shop'/],
  ])('%j', async (redis, message) => {
    const error = await bootError({
      imports: [StampedeCacheModule.forRoot({ redis: redis as string, namespace: 'shop' })],
    });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(message);
  });

  it('but numbers as text do, as they come from the environment', async () => {
    const redis = {
      host: '127.0.0.1',
      port: String(server.port) as never,
      db: '1' as never,
      family: '4' as never,
    };
    await boot({ imports: [StampedeCacheModule.forRoot({ redis, namespace: 'shop', requireRedis: true })] });
  });
});
