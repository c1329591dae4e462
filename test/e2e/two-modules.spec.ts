import { Controller, Get, Inject, Injectable, Module, type DynamicModule, type Type } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { Cached, CachedRoute, ConfigurationError, NoCache, StampedeCacheModule } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, PLATFORMS, type Incoming, type SiteOptions } from './interceptor/kit.js';
import { boot, bootError as bootErrorWithoutHttp, Lines } from './kit.js';

/** A module with a provider of its own behind the same controller. */
function moduleOf(name: string, controller: Type, path = name): { type: Type; route: object } {
  class Area {}
  Object.defineProperty(Area, 'name', { value: name });
  Module({ controllers: [controller], providers: [{ provide: 'AREA', useValue: path }] })(Area);
  return { type: Area, route: { path, module: Area } };
}

const twoOf = (controller: Type, other: Type = controller): SiteOptions => {
  const areas = [moduleOf('Shop', controller, 'shop'), moduleOf('Admin', other, 'admin')];
  return {
    imports: [
      ...areas.map(({ type }) => type),
      RouterModule.register(areas.map(({ route }) => route) as never),
    ],
    providers: [EVERYWHERE],
  };
};

describe.each(PLATFORMS)('A controller of two modules on %s', (platform) => {
  const { serve, bootError } = host(platform);
  const textsOf = async (options: SiteOptions) => {
    const site = await serve(options);
    return [(await site.get('/shop/stats')).text, (await site.get('/admin/stats')).text];
  };

  @Controller('stats')
  @CachedRoute()
  class Stats {
    constructor(@Inject('AREA') readonly area: string) {}
    @Get()
    find() {
      return this.area;
    }
    @Get('total')
    total() {
      return this.area;
    }
  }

  it('is refused, by class, modules and handlers, with the ways out', async () => {
    const error = await bootError(twoOf(Stats));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/^Stats is a controller of Shop and Admin\b/);
    expect(error.message).toContain('Stats.find, Stats.total');
    expect(error.message).toMatch(/one module.*subclass.*http\.key/);
  });

  it('is refused where @Cached marks a handler, and where one dynamic module has it twice', async () => {
    @Controller('stats')
    class Cache {
      @Get()
      @Cached({ ttl: '60s' })
      async find() {
        return 'a';
      }
    }
    expect((await bootError(twoOf(Cache))).message).toMatch(/^Cache is a controller of Shop and Admin\b/);
    class Area {
      static of(area: string): DynamicModule {
        return { module: Area, controllers: [Stats], providers: [{ provide: 'AREA', useValue: area }] };
      }
    }
    Module({})(Area);
    // Without routes: Fastify takes no path twice.
    const twice = {
      imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' } }), Area.of('shop'), Area.of('admin')],
      providers: [EVERYWHERE],
    };
    const { message } = await bootErrorWithoutHttp(twice);
    expect(message).toMatch(/^Stats is a controller of Area, more than once\b/);
  });

  it('is served with a subclass for each', async () => {
    @Controller('stats')
    class AdminStats extends Stats {}
    expect(await textsOf(twoOf(Stats, AdminStats))).toEqual(['shop', 'admin']);
  });

  it('is served where http.key tells them apart', async () => {
    @Controller('stats')
    class Keyed {
      constructor(@Inject('AREA') readonly area: string) {}
      @Get()
      @CachedRoute({ http: { key: (context) => context.switchToHttp().getRequest<Incoming & Url>().url } })
      find() {
        return this.area;
      }
    }
    expect(await textsOf(twoOf(Keyed))).toEqual(['shop', 'admin']);
  });

  it('is served where nothing of it is cached', async () => {
    @Controller('stats')
    @CachedRoute()
    class Plain {
      constructor(@Inject('AREA') readonly area: string) {}
      @Get()
      @NoCache()
      find() {
        return this.area;
      }
    }
    expect(await textsOf(twoOf(Plain))).toEqual(['shop', 'admin']);
    // Without the interceptor the mark does nothing.
    expect(await textsOf({ ...twoOf(Stats), providers: [] })).toEqual(['shop', 'admin']);
  });
});

interface Url {
  readonly url: string;
}

describe('A provider of two modules', () => {
  async function linesOf(provider: Type, shared: 'twice' | 'exported'): Promise<string[]> {
    class Shop {}
    class Admin {}
    Module({ providers: [provider], exports: [provider] })(Shop);
    Module(shared === 'twice' ? { providers: [provider] } : { imports: [Shop] })(Admin);
    const lines = new Lines();
    await boot({ imports: [StampedeCacheModule.forRoot(), Shop, Admin] }, lines);
    return lines.ofCache('warn').filter((line) => line.includes('instances'));
  }

  function repo(options: object): Type {
    class Repo {
      @Cached({ ttl: '60s', ...options })
      async one(id: number) {
        return id;
      }
      @Cached({ ttl: '60s', ...options, ...('name' in options && { name: 'many' }) })
      async all() {
        return 1;
      }
    }
    Injectable()(Repo);
    return Repo;
  }

  it('is told of once, by class, modules and methods', async () => {
    expect(await linesOf(repo({}), 'twice')).toEqual([
      expect.stringMatching(
        /^Repo has 2 instances, in Shop and Admin, which share the entries of Repo\.one, Repo\.all\. .*export/,
      ),
    ]);
  });

  it('is not, where there is one instance', async () => {
    expect(await linesOf(repo({}), 'exported')).toEqual([]);
  });

  it.each<[string, object]>([
    ['a key', { key: (id?: number) => id ?? 0 }],
    ['a name', { name: 'one' }],
    ['an own vary', { vary: () => 'x' }],
  ])('is not, where the author has given %s', async (_, options) => {
    expect(await linesOf(repo(options), 'twice')).toEqual([]);
  });
});
