import { Injectable } from '@nestjs/common';
import { Cached, StampedeCacheModule } from 'nestjs-stampede-cache';
import { field, NAMESPACE } from './support/field.js';

const here = field();

@Injectable()
class Products {
  @Cached({ ttl: '1m' })
  async find(id: number): Promise<number> {
    return id;
  }
}

/** What a client of the other library looks like. */
const nodeRedis = {
  isOpen: true,
  isReady: true,
  sendCommand: () => Promise.resolve('PONG'),
  connect: () => undefined,
};

describe('FC-063: a connection that is not what the module needs', () => {
  it.each<[string, () => object, RegExp]>([
    ['a typo in the name of the option', () => ({ redisUrl: here.redis.url }), /unknown option 'redisUrl'/],
    ['a client of node-redis', () => ({ redis: nodeRedis }), /redis: .*node-redis/],
    ['a Promise of a client', () => ({ redis: Promise.resolve(here.raw) }), /redis: .*Promise/],
    ['undefined', () => ({ redis: undefined }), /redis .*undefined/],
    ['null', () => ({ redis: null }), /redis: .*null/],
    ['an empty text, as of an unset variable', () => ({ redis: '' }), /redis: .*empty/],
    ['options of the other library', () => ({ redis: { url: 'redis://h', socket: {} } }), /redis: .*`url`/],
    ['the class and not an instance', () => ({ redis: class Redis {} }), /redis: got the function Redis/],
    ['a cache store of another library', () => ({ redis: new Map() }), /redis: got an instance of Map/],
    [
      "an object with a client's methods, such as a mock",
      () => ({ redis: { get: () => 1, set: () => 1 } }),
      /redis: .*get/,
    ],
    ['nodes that are none', () => ({ redis: { nodes: [] } }), /redis: .*nodes/],
  ])('fails the bootstrap by name, by forRoot and from a factory: %s', async (_, optionsOf, message) => {
    const options = { namespace: NAMESPACE, ...optionsOf() };
    const modules = [
      StampedeCacheModule.forRoot(options),
      StampedeCacheModule.forRootAsync({ useFactory: () => options }),
    ];
    for (const module of modules) {
      const error = await here.bootError({ imports: [module], providers: [Products] });
      expect(error).toMatchObject({ code: 'CONFIGURATION' });
      expect(error.message).toMatch(message);
    }
    expect(await here.raw.dbsize()).toBe(0);
  });

  it.each([
    ['a URL', () => here.redis.url],
    ['options of ioredis', () => ({ host: here.redis.host, port: here.redis.port })],
    ['an instance of ioredis', () => here.raw],
    ['an instance of another copy of ioredis', () => secondCopy().client],
  ])('%s works against Redis: one call, one key more, with the ttl asked for', async (_, connect) => {
    const app = await here.app({ cache: { redis: connect() }, providers: [Products] });
    await app.get(Products).find(1);
    expect(await here.raw.dbsize()).toBe(1);
    const pttl = await here.pttl();
    expect(pttl).toBeGreaterThan(59_000);
    expect(pttl).toBeLessThanOrEqual(60_000);
  });

  it('of the application itself stays open and as it was when the module closes', async () => {
    const listeners = here.raw.eventNames().map((event) => [event, here.raw.listenerCount(event)]);
    const app = await here.app({ cache: { redis: here.raw }, providers: [Products] });
    await app.get(Products).find(1);
    await app.close();
    expect(await here.raw.ping()).toBe('PONG');
    expect(here.raw.eventNames().map((event) => [event, here.raw.listenerCount(event)])).toEqual(listeners);
  });
});

/** As a second ioredis in node_modules would be: its classes are not ours. */
function secondCopy() {
  let copy!: typeof import('ioredis');
  jest.isolateModules(() => {
    copy = jest.requireActual<typeof import('ioredis')>('ioredis');
  });
  const client = new copy.Redis(here.redis.url, { disconnectTimeout: 50 });
  expect(client).not.toBeInstanceOf(here.raw.constructor);
  client.on('error', () => undefined);
  here.atEnd(async () => client.disconnect());
  return { client };
}
