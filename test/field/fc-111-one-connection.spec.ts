import { Injectable, Module } from '@nestjs/common';
import {
  Cached,
  getStampedeCacheToken,
  InjectStampedeCache,
  StampedeCacheModule,
  StampedeCacheService,
} from 'nestjs-stampede-cache';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { field } from './support/field.js';

const here = field();

const connections = async (): Promise<number> =>
  ((await here.raw.call('CLIENT', 'LIST')) as string).trim().split('\n').length;

/** Feature modules that all configure the cache, as if none knew of the others. */
const features = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    @Module({ imports: [StampedeCacheModule, StampedeCacheModule.forRoot(here.options())] })
    class FeatureModule {
      constructor(readonly cache: StampedeCacheService) {}
    }
    Object.defineProperty(FeatureModule, 'name', { value: `Feature${index}Module` });
    return FeatureModule;
  });

describe('FC-111: the module, imported in ten places', () => {
  it('is one cache: one connection for commands, one to listen, and one load for all', async () => {
    const before = await connections();
    const modules = features(10);
    const app = await here.boot({ imports: modules });
    await until(async () => (await connections()) === before + 2);
    const [first, second] = [app.get(modules[0]!).cache, app.get(modules[9]!).cache];
    expect(second).toBe(first);
    let loads = 0;
    const load = async () => (loads += 1);
    expect(await Promise.all([first.getOrLoad('k', load), second.getOrLoad('k', load)])).toEqual([1, 1]);
    expect(await connections()).toBe(before + 2);
    await app.close();
    await until(async () => (await connections()) === before);
  });

  it('and two unnamed ones with different options, are an error', async () => {
    const error = await here.bootError({
      imports: [
        StampedeCacheModule.forRoot(here.options()),
        StampedeCacheModule.forRoot(here.options({ policy: { ttl: '2m' } })),
      ],
    });
    expect(error.message).toMatch(/configured twice.*policy/);
  });
});

@Injectable()
class Reader {
  loads = 0;

  constructor(@InjectStampedeCache('b') readonly b: StampedeCacheService) {}

  @Cached({ cache: 'b' })
  async find(id: number): Promise<number> {
    this.loads += 1;
    return id;
  }
}

describe('FC-111: two caches that differ on purpose', () => {
  it('have their own Redis, prefix and options; a decorator uses the one it names', async () => {
    const other = await RedisServer.start();
    try {
      const app = await here.boot({
        imports: [
          StampedeCacheModule.forRoot({
            ...here.options({ namespace: 'a', policy: { ttl: '1m' } }),
            name: 'a',
          }),
          StampedeCacheModule.forRoot({
            ...here.options({ redis: other.url, namespace: 'b', policy: { ttl: '1h' } }),
            name: 'b',
          }),
        ],
        providers: [Reader],
      });
      const a = app.get<StampedeCacheService>(getStampedeCacheToken('a'));
      const reader = app.get(Reader);
      await a.set('k', 'a');
      await reader.b.set('k', 'b');
      await reader.find(1);
      await reader.find(1);
      expect(reader.loads).toBe(1);
      expect([await a.get('k'), await reader.b.get('k')]).toEqual(['a', 'b']);

      expect(await here.entries('a')).toHaveLength(1);
      expect(await here.raw.dbsize()).toBe(1);
      const otherRaw = other.client();
      const names = await otherRaw.keys('*');
      expect(names).toHaveLength(2);
      for (const name of names) {
        expect(name).toMatch(/^b:d:/);
        expect(await otherRaw.pttl(name)).toBeGreaterThan(3_590_000);
      }
      expect(await here.raw.pttl((await here.entries('a'))[0]!)).toBeLessThanOrEqual(60_000);
      await app.close();
    } finally {
      await other.stop();
    }
  });
});
