import { Injectable, Module } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import {
  Cached,
  parseDuration,
  StampedeCacheModule,
  StampedeCacheService,
  type StampedeCacheOptionsFactory,
} from 'nestjs-stampede-cache';
import { field, NAMESPACE } from './support/field.js';

const here = field();

@Injectable()
class Lazy {
  loads = 0;

  constructor(readonly cache: StampedeCacheService) {}

  @Cached()
  async find(id: number): Promise<number> {
    this.loads += 1;
    return id;
  }
}

/** Imports nothing. */
@Module({ providers: [Lazy] })
class LazyModule {}

@Injectable()
class Settings implements StampedeCacheOptionsFactory {
  createStampedeCacheOptions() {
    return here.options();
  }
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

/** Settings as an application has them, in a module of their own. */
@Injectable()
class ConfigService {
  get(name: 'redis' | 'ttl'): string {
    return { redis: here.redis.url, ttl: '60s' }[name];
  }
}

@Module({ providers: [ConfigService], exports: [ConfigService] })
class ConfigModule {}

const REGISTRATIONS: Readonly<Record<string, () => ReturnType<typeof StampedeCacheModule.forRootAsync>>> = {
  useFactory: () =>
    StampedeCacheModule.forRootAsync({
      isGlobal: true,
      imports: [ConfigModule],
      inject: [ConfigService],
      useFactory: async (settings: ConfigService) => ({
        redis: settings.get('redis'),
        namespace: NAMESPACE,
        policy: { ttl: parseDuration(settings.get('ttl')) },
      }),
    }),
  useClass: () => StampedeCacheModule.forRootAsync({ isGlobal: true, useClass: Settings }),
  useExisting: () =>
    StampedeCacheModule.forRootAsync({ isGlobal: true, imports: [SettingsModule], useExisting: Settings }),
};

describe('FC-110: a cache whose options are made asynchronously', () => {
  it.each(Object.keys(REGISTRATIONS))(
    'reaches a feature module that imports nothing and is loaded lazily: %s',
    async (way) => {
      const app = await here.boot({ imports: [REGISTRATIONS[way]!()] });
      const lazy = (await app.get(LazyModuleLoader).load(() => LazyModule)).get(Lazy);
      expect(lazy.cache).toBe(app.get(StampedeCacheService));
      expect(await Promise.all([lazy.find(1), lazy.find(1)])).toEqual([1, 1]);
      expect(await lazy.find(1)).toBe(1);
      expect(lazy.loads).toBe(1);
      expect(await here.entries()).toHaveLength(1);
    },
  );

  it('says where isGlobal belongs when the factory returns it', async () => {
    const module = StampedeCacheModule.forRootAsync({
      useFactory: () => ({ ...here.options(), isGlobal: true }) as never,
    });
    const error = await here.bootError({ imports: [module] });
    expect(error.message).toMatch(/isGlobal.*beside useFactory/);
  });

  it('that is not global and was not imported is missed by the name of what is missing', async () => {
    const module = StampedeCacheModule.forRootAsync({ isGlobal: false, useFactory: () => here.options() });
    const error = await here.bootError({ imports: [module, LazyModule] });
    expect(error.message).toMatch(/StampedeCacheService/);
    expect(error.message).toMatch(/LazyModule/);
  });
});
