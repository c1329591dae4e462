import { Inject, Injectable, Module } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import {
  Cached,
  ConfigurationError,
  getStampedeCacheToken,
  InjectStampedeCache,
  StampedeCacheModule,
  StampedeCacheService,
  type StampedeCacheOptionsFactory,
} from 'nestjs-stampede-cache';
import { boot, bootError, Lines } from './kit.js';

const loadsOnce = async (cache: StampedeCacheService) => {
  let loads = 0;
  const load = async () => (loads += 1);
  await Promise.all([cache.getOrLoad('k', load), cache.getOrLoad('k', load)]);
  return loads === 1;
};

describe('StampedeCacheModule.forRoot', () => {
  it('works without any argument, in this process, and says so in one line', async () => {
    const lines = new Lines();
    const app = await boot({ imports: [StampedeCacheModule.forRoot()] }, lines);
    const cache = app.get(StampedeCacheService);
    expect(await cache.getOrLoad('k', () => 1, { ttl: '60s' })).toBe(1);
    expect(await cache.get('k')).toBe(1);
    expect(lines.ofCache()).toEqual([expect.stringMatching(/in this process/)]);
  });

  it('is visible everywhere unless isGlobal is false', async () => {
    @Injectable()
    class Reader {
      constructor(readonly cache: StampedeCacheService) {}
    }
    @Module({ providers: [Reader] })
    class FeatureModule {}
    const app = await boot({ imports: [StampedeCacheModule.forRoot(), FeatureModule] });
    expect(app.get(Reader, { strict: false }).cache).toBe(app.get(StampedeCacheService));
    const unset = await boot({
      imports: [StampedeCacheModule.forRoot({ isGlobal: undefined }), FeatureModule],
    });
    expect(unset.get(Reader, { strict: false }).cache).toBeInstanceOf(StampedeCacheService);
    const error = await bootError({
      imports: [StampedeCacheModule.forRoot({ isGlobal: false }), FeatureModule],
    });
    expect(error.message).toMatch(/StampedeCacheService.*FeatureModule/s);
  });

  it('injects the default service by class, by token and by decorator: one and the same', async () => {
    @Injectable()
    class Reader {
      constructor(
        readonly byClass: StampedeCacheService,
        @Inject(getStampedeCacheToken()) readonly byToken: StampedeCacheService,
        @InjectStampedeCache() readonly byDecorator: StampedeCacheService,
      ) {}
    }
    const app = await boot({ imports: [StampedeCacheModule.forRoot()], providers: [Reader] });
    const { byClass, byToken, byDecorator } = app.get(Reader);
    expect(byToken).toBe(byClass);
    expect(byDecorator).toBe(byClass);
  });

  it('goes straight to the loader when enabled is false or STAMPEDE_CACHE is off', async () => {
    const straight = async () => {
      const app = await boot({
        imports: [
          StampedeCacheModule.forRoot({
            enabled: process.env['STAMPEDE_CACHE'] === 'off',
            policy: { ttl: '60s' },
          }),
        ],
      });
      const cache = app.get(StampedeCacheService);
      let loads = 0;
      const unencodable = () => 1;
      for (let i = 0; i < 2; i++) await cache.getOrLoad(unencodable, () => (loads += 1));
      await cache.set('k', 1);
      await cache.invalidate('k');
      expect(await cache.get('k')).toBeUndefined();
      expect(await cache.inspect('k')).toBeNull();
      expect(cache.stats().outcomes.bypassed).toBe(2);
      return loads === 2;
    };
    expect(await straight()).toBe(true);
    process.env['STAMPEDE_CACHE'] = 'off';
    try {
      expect(await straight()).toBe(true);
      process.env['STAMPEDE_CACHE'] = 'OF';
      const error = await bootError({ imports: [StampedeCacheModule.forRoot()] });
      expect(error.message).toMatch(/STAMPEDE_CACHE.*'OF'/);
    } finally {
      delete process.env['STAMPEDE_CACHE'];
    }
  });

  it('does not connect when it is switched off, but judges the connection', async () => {
    const lines = new Lines();
    const redis = 'redis://127.0.0.1:1';
    await boot(
      {
        imports: [StampedeCacheModule.forRoot({ redis, namespace: 'a', enabled: false, requireRedis: true })],
      },
      lines,
    );
    expect(lines.ofCache()).toEqual([expect.stringMatching(/the default cache is switched off/)]);
    const error = await bootError({
      imports: [StampedeCacheModule.forRoot({ redis: 'http://x', namespace: 'a', enabled: false })],
    });
    expect(error.message).toMatch(/redis/);
  });
});

describe('StampedeCacheModule.forRootAsync (FC-110)', () => {
  @Injectable()
  class Options implements StampedeCacheOptionsFactory {
    async createStampedeCacheOptions() {
      return { policy: { ttl: '60s' } } as const;
    }
  }
  @Module({ providers: [Options], exports: [Options] })
  class OptionsModule {}

  it.each([
    [
      'useFactory',
      StampedeCacheModule.forRootAsync({
        imports: [OptionsModule],
        inject: [Options],
        useFactory: (options: Options) => options.createStampedeCacheOptions(),
      }),
    ],
    ['useClass', StampedeCacheModule.forRootAsync({ useClass: Options })],
    ['useExisting', StampedeCacheModule.forRootAsync({ imports: [OptionsModule], useExisting: Options })],
    [
      'extraProviders',
      StampedeCacheModule.forRootAsync({
        extraProviders: [{ provide: 'TTL', useValue: '60s' }],
        inject: ['TTL'],
        useFactory: async (ttl: '60s') => ({ policy: { ttl } }),
      }),
    ],
    [
      'provideInjectionTokensFrom',
      StampedeCacheModule.forRootAsync({
        provideInjectionTokensFrom: [
          { provide: 'TTL', useFactory: (unit: string) => `60${unit}`, inject: ['UNIT'] },
          { provide: 'UNIT', useValue: 's' },
        ],
        inject: ['TTL'],
        useFactory: async (ttl: '60s') => ({ policy: { ttl } }),
      }),
    ],
  ])('takes its options from %s', async (_, module) => {
    const app = await boot({ imports: [module] });
    expect(await loadsOnce(app.get(StampedeCacheService))).toBe(true);
  });

  it('serves a feature module that is imported lazily and imports nothing', async () => {
    let runs = 0;
    @Injectable()
    class Lazy {
      constructor(readonly cache: StampedeCacheService) {}
      @Cached({ ttl: '60s' })
      async find(id: number) {
        runs += 1;
        return id;
      }
    }
    @Module({ providers: [Lazy] })
    class LazyModule {}
    const app = await boot({ imports: [StampedeCacheModule.forRootAsync({ useFactory: () => ({}) })] });
    const loaded = await app.get(LazyModuleLoader).load(() => LazyModule);
    const lazy = loaded.get(Lazy);
    expect(lazy.cache).toBe(app.get(StampedeCacheService));
    expect(await Promise.all([lazy.find(1), lazy.find(1)])).toEqual([1, 1]);
    expect(runs).toBe(1);
  });

  it('says where isGlobal and name belong when the factory returns them', async () => {
    for (const wrong of [{ isGlobal: true }, { name: 'b' }]) {
      const error = await bootError({
        imports: [StampedeCacheModule.forRootAsync({ useFactory: () => wrong as never })],
      });
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error.message).toContain(Object.keys(wrong)[0]);
      expect(error.message).toMatch(/beside useFactory/);
    }
  });

  it('says that cache options beside the factory belong into what it returns', async () => {
    const error = await bootError({
      imports: [StampedeCacheModule.forRootAsync({ namespace: 'x', useFactory: () => ({}) } as never)],
    });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/namespace/);
  });

  it('says what is missing without any way to make options', async () => {
    const error = await bootError({ imports: [StampedeCacheModule.forRootAsync({ inject: [] })] });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/one of useFactory, useClass and useExisting/);
  });

  it('refuses what a factory returns that is no object', async () => {
    const error = await bootError({
      imports: [StampedeCacheModule.forRootAsync({ useFactory: () => undefined as never })],
    });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/undefined/);
  });

  it('lets the factory need a provider whose own methods are @Cached', async () => {
    let runs = 0;
    @Injectable()
    class Settings {
      @Cached()
      async read(key: string) {
        runs += 1;
        return key;
      }
    }
    @Module({ providers: [Settings], exports: [Settings] })
    class SettingsModule {}
    const app = await boot({
      imports: [
        StampedeCacheModule.forRootAsync({
          imports: [SettingsModule],
          inject: [Settings],
          useFactory: async (settings: Settings) => {
            await settings.read('during bootstrap, uncached');
            return { policy: { ttl: '60s' } };
          },
        }),
      ],
    });
    const settings = app.get(Settings, { strict: false });
    await Promise.all([settings.read('a'), settings.read('a')]);
    expect(runs).toBe(2);
  });
});

describe('Importing the module in several places (FC-111)', () => {
  const modulesOf = (count: number, options?: () => Parameters<typeof StampedeCacheModule.forRoot>[0]) =>
    Array.from({ length: count }, () => {
      @Module({ imports: [StampedeCacheModule, StampedeCacheModule.forRoot(options?.())] })
      class FeatureModule {}
      return FeatureModule;
    });

  it('makes one cache of ten imports, and the bare class provides nothing', async () => {
    const lines = new Lines();
    const app = await boot({ imports: modulesOf(10, () => ({ policy: { ttl: '60s' } })) }, lines);
    const all = app.get(StampedeCacheService, { each: true, strict: false }) as unknown as unknown[];
    expect(all).toHaveLength(10);
    expect(new Set(all).size).toBe(1);
    expect(await loadsOnce(app.get(StampedeCacheService, { strict: false }))).toBe(true);
    expect(lines.ofCache()).toHaveLength(1);
    const error = await bootError({
      imports: [StampedeCacheModule],
      providers: [{ provide: 'X', useFactory: () => 1, inject: [StampedeCacheService] }],
    });
    expect(error.message).toMatch(/StampedeCacheService/);
  });

  it('counts options as equal by what they hold, functions and instances by identity', async () => {
    const bypass = () => false;
    const same = () =>
      ({ bypass, policy: { ttl: '60s', errors: [TypeError] }, loads: { queue: 5 } }) as const;
    await boot({ imports: modulesOf(2, same) });
    const error = await bootError({ imports: modulesOf(2, () => ({ bypass: () => false })) });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/configured twice.*bypass/);
  });

  it('refuses two unnamed caches with different options, whichever way they were given', async () => {
    const error = await bootError({
      imports: [
        StampedeCacheModule.forRoot({ policy: { ttl: '60s' } }),
        StampedeCacheModule.forRootAsync({ useFactory: () => ({ policy: { ttl: '61s' } }) }),
      ],
    });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/the default cache is configured twice, and policy differs/);
  });
});

describe('Named caches', () => {
  it('are separate caches with options, entries and services of their own', async () => {
    @Injectable()
    class Reader {
      constructor(
        readonly main: StampedeCacheService,
        @InjectStampedeCache('reports') readonly reports: StampedeCacheService,
      ) {}
      @Cached({ ttl: '60s', cache: 'reports' })
      async find(id: number) {
        return id;
      }
    }
    const app = await boot({
      imports: [
        StampedeCacheModule.forRoot({ name: 'reports', policy: { ttl: '1h' } }),
        StampedeCacheModule.forRootAsync({ useFactory: async () => ({ policy: { ttl: '60s' } }) }),
      ],
      providers: [Reader],
    });
    const { main, reports } = app.get(Reader);
    expect(reports).toBe(app.get(getStampedeCacheToken('reports')));
    expect(reports).not.toBe(main);
    await main.set('k', 'main');
    await reports.set('k', 'reports');
    expect([await main.get('k'), await reports.get('k')]).toEqual(['main', 'reports']);
    await app.get(Reader).find(1);
    expect(reports.stats().outcomes.loaded).toBe(1);
    expect(main.stats().outcomes.loaded).toBe(0);
    expect(await reports.of(Reader, 'find').get(1)).toBe(1);
    expect(() => main.of(Reader, 'find')).toThrow(
      /cached in the cache 'reports' and not in the default cache/,
    );
  });

  it('need a namespace where there is no default cache to derive one from', async () => {
    const error = await bootError({ imports: [StampedeCacheModule.forRoot({ name: 'b' })] });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/the cache 'b' has no namespace and there is no default cache/);
    await boot({ imports: [StampedeCacheModule.forRoot({ name: 'b', namespace: 'shop.b' })] });
  });

  it('may not share a namespace, derived or given', async () => {
    const given = await bootError({
      imports: [
        StampedeCacheModule.forRoot({ namespace: 'shop' }),
        StampedeCacheModule.forRoot({ name: 'b', namespace: 'shop' }),
      ],
    });
    expect(given).toBeInstanceOf(ConfigurationError);
    expect(given.message).toMatch(/both have the namespace 'shop'/);
    const derived = await bootError({
      imports: [
        StampedeCacheModule.forRoot({ name: 'c', namespace: 'shop.b' }),
        StampedeCacheModule.forRoot({ name: 'b' }),
        StampedeCacheModule.forRoot({ namespace: 'shop' }),
      ],
    });
    expect(derived.message).toMatch(/both have the namespace 'shop\.b'/);
  });

  it('are refused where a method names one that nobody configured', async () => {
    class Reader {
      @Cached({ ttl: '60s', cache: 'nowhere' })
      async find() {
        return 1;
      }
    }
    const error = await bootError({ imports: [StampedeCacheModule.forRoot()], providers: [Reader] });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/Reader\.find.*'nowhere'.*forRoot\(\{ name: 'nowhere' \}\)/);
  });

  it('come up when a test replaces the default service', async () => {
    const { Test } = await import('@nestjs/testing');
    const fake = { get: () => 'fake' };
    const module = await Test.createTestingModule({
      imports: [StampedeCacheModule.forRoot(), StampedeCacheModule.forRoot({ name: 'b' })],
    })
      .overrideProvider(StampedeCacheService)
      .useValue(fake)
      .compile();
    await module.init();
    expect(module.get(StampedeCacheService)).toBe(fake);
    expect(module.get(getStampedeCacheToken('b'))).toBeInstanceOf(StampedeCacheService);
    await module.close();
  });
});

describe('Options that can not be used', () => {
  it.each<[string, object, RegExp]>([
    ['an unknown one', { isGlobl: true }, /unknown option 'isGlobl'.*namespace/],
    ['redis under a key with undefined (FC-063)', { redis: undefined, namespace: 'a' }, /redis.*undefined/],
    ['redis null', { redis: null, namespace: 'a' }, /redis: got null/],
    ['redis a number', { redis: 6379, namespace: 'a' }, /redis: got 6379/],
    ['redis a Promise (FC-063)', { redis: Promise.resolve('x'), namespace: 'a' }, /redis: got a Promise/],
    [
      'redis a node-redis client (FC-063)',
      { redis: { sendCommand: () => 1, isOpen: false }, namespace: 'a' },
      /redis: got a client of the library node-redis/,
    ],
    ['a misspelt url (FC-063)', { redis: { url: 'redis://x' }, namespace: 'a' }, /redis.*`url`/],
    ['redis without namespace', { redis: 'redis://127.0.0.1:1' }, /namespace is required with redis/],
    ['an empty namespace', { namespace: '' }, /namespace.*''/],
    ['a namespace with a brace', { namespace: 'a{b' }, /namespace.*'a\{b'/],
    ['a namespace with a control character', { namespace: 'a\n' }, /namespace.*'a\\n'/],
    ['a namespace that is no text', { namespace: 5 }, /namespace.*5/],
    ['requireRedis without redis', { requireRedis: true }, /requireRedis/],
    ['requireRedis that is no flag', { requireRedis: 'yes' }, /requireRedis.*'yes'/],
    ['enabled that is no flag', { enabled: 'no' }, /enabled.*'no'/],
    ['a redisTimeout', { redisTimeout: 'soon' }, /redisTimeout.*'soon'/],
    ['vary that is no function', { vary: 'tenant' }, /vary.*'tenant'/],
    ['bypass that is no function', { bypass: true }, /bypass.*true/],
    ['maxValueBytes', { maxValueBytes: -1 }, /maxValueBytes.*-1/],
    ['a policy with a typo', { policy: { tll: '60s' } }, /policy.*unknown option 'tll'/],
    ['a policy with a bad value', { policy: { stale: '5 minutes' } }, /policy.*stale.*'5 minutes'/],
    ['a policy that is none', { policy: '60s' }, /policy.*'60s'/],
    ['l1 that is no object', { l1: true }, /l1 is false or an object.*true/],
    ['l1 with a typo', { l1: { maxEntry: 5 } }, /l1\.maxEntry is unknown/],
    ['l1.maxEntries', { l1: { maxEntries: 0 } }, /l1\.maxEntries.*0/],
    ['l1.ttl', { l1: { ttl: 0 } }, /l1\.ttl.*0/],
    ['coherence that is no object', { coherence: '1s' }, /coherence.*'1s'/],
    ['coherence with a typo', { coherence: { maxLags: '1s' } }, /coherence\.maxLags.*'1s'/],
    ['coherence.maxLag', { coherence: { maxLag: 'soon' } }, /coherence\.maxLag.*'soon'/],
    ['coherence.mode', { coherence: { mode: 'gossip' } }, /coherence\.mode.*'tracking'.*'gossip'/],
    ['loads.breaker of a wrong kind', { loads: { breaker: true } }, /loads\.breaker/],
    ['a part of loads.breaker that is unknown', { loads: { breaker: { rate: 1 } } }, /loads\.breaker\.rate/],
    ['loads.pools of a wrong kind', { loads: { pools: 3 } }, /loads\.pools/],
    ['policy.tags', { policy: { tags: 'a' } }, /tags.*'a'/],
    ['isGlobal that is no flag', { isGlobal: 'yes' }, /isGlobal.*'yes'/],
    ['an empty name', { name: '' }, /name.*''/],
    ['a name with a brace', { name: 'a}', namespace: 'x' }, /name.*'a\}'/],
  ])('%s fail the bootstrap by name', async (_, options, message) => {
    const error = await bootError({ imports: [StampedeCacheModule.forRoot(options)] });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(message);
  });

  it.each(['messages', 'tracking'] as const)('coherence has a lag, and goes by %s', async (mode) => {
    await boot({ imports: [StampedeCacheModule.forRoot({ coherence: { maxLag: '5s', mode } })] });
  });

  it('l1: false asks for nothing and passes', async () => {
    await boot({ imports: [StampedeCacheModule.forRoot({ l1: false } as never)] });
  });
});
