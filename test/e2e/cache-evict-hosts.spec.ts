import 'reflect-metadata';
import { Controller, Injectable, Scope, SetMetadata, type Type } from '@nestjs/common';
import { ContextIdFactory, LazyModuleLoader } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import * as ours from 'nestjs-stampede-cache';
import {
  asMethodDecorator,
  Cached,
  CacheEvict,
  CachePut,
  StampedeCacheModule,
  StampedeCacheService,
} from 'nestjs-stampede-cache';
import { boot, compile, Lines } from './kit.js';

const root = () => StampedeCacheModule.forRoot({ policy: { ttl: '60s' } });

interface Evicting {
  find(id: number): Promise<number>;
  update(id: number): Promise<number>;
}

/** A class that counts how often `find` really runs. */
function counted(scope = Scope.DEFAULT) {
  @Injectable({ scope })
  class Counted implements Evicting {
    static runs = 0;
    @Cached({ name: 'counted' })
    async find(_id: number) {
      return (Counted.runs += 1);
    }
    @CacheEvict({ of: 'find', args: (_result, id) => [id] })
    async update(id: number) {
      return id;
    }
  }
  return Counted;
}

async function evicts(host: Evicting): Promise<void> {
  const before = await host.find(1);
  expect(await host.find(1)).toBe(before);
  expect(await host.update(2)).toBe(2);
  expect(await host.find(1)).toBe(before);
  expect(await host.update(1)).toBe(1);
  expect(await host.find(1)).toBe(before + 1);
}

async function secondCopy(): Promise<typeof ours> {
  let copy: typeof ours | undefined;
  await jest.isolateModulesAsync(async () => {
    copy = await import('nestjs-stampede-cache');
  });
  if (copy === undefined) throw new Error('the copy was not loaded');
  return copy;
}

describe('@CacheEvict works on', () => {
  it('a singleton provider, and a controller', async () => {
    const [Provider, Handlers] = [counted(), counted()];
    Controller()(Handlers);
    const app = await boot({ imports: [root()], providers: [Provider] });
    await evicts(app.get(Provider));
    const other = await boot({ imports: [root()], controllers: [Handlers] });
    await evicts(other.get(Handlers));
  });

  it('transient and request-scoped providers', async () => {
    for (const scope of [Scope.TRANSIENT, Scope.REQUEST]) {
      const Counted = counted(scope);
      const app = await boot({ imports: [root()], providers: [Counted] });
      const [a, b] = [
        await app.resolve(Counted, ContextIdFactory.create()),
        await app.resolve(Counted, ContextIdFactory.create()),
      ];
      expect(a).not.toBe(b);
      await evicts(a);
      const before = await b.find(1);
      await a.update(1);
      expect(await b.find(1)).toBe(before + 1);
    }
  });

  it('a request-scoped provider whose keys depend on the instance', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      static runs = 0;
      tenant = 'none';
      @Cached({
        key(id) {
          return [this.tenant, id];
        },
      })
      async find(_id: number) {
        return (PerRequest.runs += 1);
      }
      @CacheEvict({ of: () => [PerRequest, 'find'], args: (_result, id) => [id] })
      async update(id: number) {
        return id;
      }
    }
    const app = await boot({ imports: [root()], providers: [PerRequest] });
    const of = async (tenant: string) => {
      const instance = await app.resolve(PerRequest, ContextIdFactory.create());
      instance.tenant = tenant;
      return instance;
    };
    const [a, b] = [await of('a'), await of('b')];
    await evicts(a);
    const before = await b.find(1);
    await a.update(1);
    expect(await b.find(1)).toBe(before);
  });

  it.each<[string, (Counted: Type<Evicting>) => object]>([
    ['useFactory', (Counted) => ({ useFactory: () => new Counted() })],
    ['useValue', (Counted) => ({ useValue: new Counted() })],
    ['useValue, frozen', (Counted) => ({ useValue: Object.freeze(new Counted()) })],
  ])('an instance that %s made', async (_, provider) => {
    const app = await boot({
      imports: [root()],
      providers: [{ provide: 'X', ...provider(counted()) } as { provide: string; useValue: object }],
    });
    const host: Evicting & object = app.get('X');
    await evicts(host);
    expect(Reflect.ownKeys(host)).toEqual([]);
  });

  it('an instance handed to attach(), also one that has evictions alone', async () => {
    const [Counted, Target] = [counted(), counted()];
    class Evictor {
      @CacheEvict({ of: () => [Target, 'find'] })
      async evict() {
        return 1;
      }
    }
    const app = await boot({ imports: [root()], providers: [Target] });
    const cache = app.get(StampedeCacheService);
    const mine = new Counted();
    cache.attach(mine);
    await evicts(mine);
    const evictor = new Evictor();
    cache.attach(evictor);
    const before = await app.get(Target).find(1);
    await evictor.evict();
    expect(await app.get(Target).find(1)).not.toBe(before);
    expect(() => cache.attach({})).toThrow(/no method that is @Cached.*@CacheEvict/);
  });

  it('inherited methods: of the class of the instance', async () => {
    abstract class Base implements Evicting {
      runs = 0;
      @Cached()
      async find(_id: number) {
        return (this.runs += 1);
      }
      @CacheEvict({ of: 'find', args: (_result, id) => [id] })
      async update(id: number) {
        return id;
      }
    }
    @Injectable()
    class Users extends Base {}
    @Injectable()
    class Posts extends Base {
      override async update(id: number) {
        return super.update(id);
      }
    }
    const app = await boot({ imports: [root()], providers: [Users, Posts] });
    await evicts(app.get(Users));
    await evicts(app.get(Posts));
    await app.get(Users).update(1);
    const before = await app.get(Posts).find(1);
    expect(before).toBe(app.get(Posts).runs);
    await app.get(Users).find(1);
    expect(app.get(Users).runs).toBe(3);
  });

  it('a base class that stands for the one class that extends it', async () => {
    abstract class Repository {
      runs = 0;
      @Cached()
      async find(_id: number) {
        return (this.runs += 1);
      }
    }
    @Injectable()
    class Users extends Repository {}
    @Injectable()
    class Admin {
      @CacheEvict({ of: () => [Repository, 'find'], args: (_result, id) => [id] })
      async update(id: number) {
        return id;
      }
    }
    const app = await boot({ imports: [root()], providers: [Users, Admin] });
    const users = app.get(Users);
    await users.find(1);
    await app.get(Admin).update(1);
    expect(await users.find(1)).toBe(2);
  });

  it('calls made in onModuleInit, and an application that was compiled and never initialised', async () => {
    @Injectable()
    class Early extends counted() {
      seen: number[] = [];
      async onModuleInit() {
        this.seen.push(await this.find(1), await this.update(1), await this.find(1));
      }
    }
    const app = await boot({ imports: [root()], providers: [Early] });
    expect(app.get(Early).seen).toEqual([1, 1, 2]);
    const Counted = counted();
    await evicts((await compile({ imports: [root()], providers: [Counted] })).get(Counted));
  });

  it('a module that is loaded lazily, of its own classes and of those that were there before', async () => {
    abstract class Base {
      runs = 0;
      @Cached()
      async find(_id: number) {
        return (this.runs += 1);
      }
    }
    @Injectable()
    class Users extends Base {}
    const Counted = counted();
    @Injectable()
    class Admin {
      @CacheEvict({ of: () => [Base, 'find'], args: (_result, id) => [id] })
      @CacheEvict({ of: () => [Counted, 'find'] })
      async update(id: number) {
        return id;
      }
      @CacheEvict({ of: () => [Admin, 'update'] })
      async wrong() {
        return 1;
      }
    }
    const app = await boot({ imports: [root()], providers: [Users] });
    const lazy = await app
      .get(LazyModuleLoader)
      .load(() => ({ module: class Lazy {}, providers: [Counted, Admin] }));
    await evicts(lazy.get(Counted));
    await app.get(Users).find(1);
    const before = await lazy.get(Counted).find(1);
    await lazy.get(Admin).update(1);
    expect([await app.get(Users).find(1), await lazy.get(Counted).find(1)]).toEqual([2, before + 1]);
    // What the bootstrap could not see is told before the method is called.
    await expect(lazy.get(Admin).wrong()).rejects.toThrow(/Admin\.update is not @Cached/);
  });

  it("a host that the cache's own options are made from", async () => {
    @Injectable()
    class Settings {
      runs = 0;
      @Cached()
      async find(_id: number) {
        return (this.runs += 1);
      }
      @CacheEvict({ of: 'find', args: (_result, id) => [id] })
      async update(id: number) {
        return id;
      }
    }
    const app = await boot({
      imports: [
        StampedeCacheModule.forRootAsync({
          extraProviders: [Settings],
          inject: [Settings],
          useFactory: async (settings: Settings) => {
            await settings.update(1);
            return { policy: { ttl: '60s' } };
          },
        }),
      ],
    });
    await evicts(app.get(Settings, { strict: false }));
  });

  it('classes whose cache is not global', async () => {
    const Counted = counted();
    class Feature {}
    const app = await boot({
      imports: [
        {
          module: Feature,
          imports: [StampedeCacheModule.forRoot({ isGlobal: false, policy: { ttl: '60s' } })],
          providers: [Counted],
        },
      ],
    });
    await evicts(app.get(Counted, { strict: false }));
  });

  it('two applications in one process, each with its own entries; a shared instance goes over to the living one', async () => {
    const [Counted, Shared] = [counted(), counted()];
    const shared = new Shared();
    const own = () => ({ imports: [root()], providers: [{ provide: 'X', useValue: shared }] });
    const [one, two] = [
      await boot({ imports: [root()], providers: [Counted] }),
      await boot({ imports: [root()], providers: [Counted] }),
    ];
    await one.get(Counted).find(1);
    const before = await two.get(Counted).find(1);
    await one.get(Counted).update(1);
    expect(await two.get(Counted).find(1)).toBe(before);
    const first = await boot(own());
    await evicts(shared);
    await first.close();
    await boot(own());
    await evicts(shared);
  });

  it("a method that another copy of the package's decorators stand on", async () => {
    const other = await secondCopy();
    @Injectable()
    class Both implements Evicting {
      runs = 0;
      @other.Cached({ ttl: '60s' })
      async find(_id: number) {
        return (this.runs += 1);
      }
      @other.CacheEvict({ of: 'find', args: (_result, id) => [id] })
      async update(id: number) {
        return id;
      }
    }
    const single = await boot({
      imports: [root()],
      providers: [{ provide: 'MADE', useFactory: () => new Both() }],
    });
    await evicts(single.get('MADE'));
    const injected = await boot({ imports: [root()], providers: [Both] });
    await evicts(injected.get(Both));
  });
});

describe('@CacheEvict leaves the method plain', () => {
  it('without Nest, and without a word', async () => {
    const Counted = counted();
    const host = new Counted();
    expect([await host.find(1), await host.update(1), await host.find(1)]).toEqual([1, 1, 2]);
  });

  it('under Nest without the module, with one warning a class', async () => {
    @Injectable()
    class Lonely {
      @CacheEvict({ of: () => [Lonely, 'update'] })
      async update(id: number) {
        return id;
      }
    }
    const lines = new Lines();
    const app = await boot({ providers: [Lonely] }, lines);
    expect([await app.get(Lonely).update(1), await app.get(Lonely).update(2)]).toEqual([1, 2]);
    expect(lines.ofCache()).toEqual([
      expect.stringMatching(/Lonely\.update has @CacheEvict and changes no entry.*forRoot\(\)/),
    ]);
  });

  it('where a test replaces the service', async () => {
    const Counted = counted();
    const replaced = await Test.createTestingModule({ imports: [root()], providers: [Counted] })
      .overrideProvider(StampedeCacheService)
      .useValue({ get: () => 'fake' })
      .compile();
    await replaced.init();
    const host = replaced.get(Counted);
    expect([await host.find(1), await host.update(1), await host.find(1)]).toEqual([1, 1, 2]);
    await replaced.close();
  });
});

describe('A method with @CacheEvict', () => {
  it('keeps its name, length, own properties, metadata, this and #private', async () => {
    const mark = (_target: object, _method: string | symbol, descriptor: PropertyDescriptor) => {
      Object.assign(descriptor.value, { mark: 5 });
    };
    @Injectable()
    class Kept {
      #secret = 41;
      readonly tenant = 'a';
      @Cached({ key: (tenant, id) => [tenant, id] })
      async find(_tenant: string, _id: number) {
        return (this.#secret += 1);
      }
      @SetMetadata('above', 1)
      @CacheEvict({
        of: 'find',
        args(result, id) {
          return [this.tenant, result > 0 ? id : -1];
        },
      })
      @SetMetadata('below', 2)
      @mark
      async update(_id: number, _name: string) {
        return this.#secret;
      }
    }
    const update = Reflect.get(Kept.prototype, 'update') as { name: string; length: number; mark?: number };
    expect([update.name, update.length, update.mark]).toEqual(['update', 2, 5]);
    expect([Reflect.getMetadata('above', update), Reflect.getMetadata('below', update)]).toEqual([1, 2]);
    expect(Reflect.getMetadata('design:paramtypes', Kept.prototype, 'update')).toEqual([Number, String]);
    expect(Object.keys(Kept.prototype)).toEqual([]);
    const kept = (await boot({ imports: [root()], providers: [Kept] })).get(Kept);
    const before = await kept.find('a', 1);
    await kept.update(1, 'new');
    expect(await kept.find('a', 1)).toBe(before + 1);
  });

  it('happens at every call above @Cached, and only when the method really ran below it', async () => {
    const runs: string[] = [];
    @Injectable()
    class Ordered {
      @Cached()
      async target(id: number) {
        return runs.push(`target ${id}`);
      }
      @CacheEvict({ of: 'target', args: () => [1] })
      @Cached()
      async above() {
        return runs.push('above');
      }
      @Cached()
      @CacheEvict({ of: 'target', args: () => [2] })
      async below() {
        return runs.push('below');
      }
    }
    const it = (await boot({ imports: [root()], providers: [Ordered] })).get(Ordered);
    const look = async () => {
      runs.length = 0;
      await it.target(1);
      await it.target(2);
      return [...runs];
    };
    await it.above();
    await it.below();
    expect(await look()).toEqual(['target 1', 'target 2']);
    await it.above();
    await it.below();
    expect(await look()).toEqual(['target 1']);
  });

  it('works inside a composed decorator, and beside @CachePut', async () => {
    const Composed = () => (target: object, method: string | symbol, descriptor: PropertyDescriptor) => {
      for (const one of [
        asMethodDecorator(CacheEvict({ of: () => [Both, 'all'] })),
        asMethodDecorator(CachePut({ of: () => [Both, 'find'], args: (_result, id) => [id] })),
      ])
        one(target, method, descriptor);
    };
    @Injectable()
    class Both {
      runs = 0;
      @Cached()
      async all() {
        return (this.runs += 1);
      }
      @Cached()
      async find(id: number) {
        return `found ${id}`;
      }
      @Composed()
      async update(id: number) {
        return `updated ${id}`;
      }
    }
    const both = (await boot({ imports: [root()], providers: [Both] })).get(Both);
    await both.all();
    await both.find(1);
    await both.update(1);
    expect([await both.all(), await both.find(1), await both.find(2)]).toEqual([2, 'updated 1', 'found 2']);
  });

  it('that is synchronous returns a Promise, with one warning; an Observable is refused', async () => {
    const lines = new Lines();
    const { of } = await import('rxjs');
    @Injectable()
    class Odd {
      runs = 0;
      @Cached()
      async find() {
        return (this.runs += 1);
      }
      @asMethodDecorator(CacheEvict({ of: () => [Odd, 'find'] }))
      sync(): unknown {
        return 5;
      }
      @asMethodDecorator(CacheEvict({ of: () => [Odd, 'find'] }))
      observable(): unknown {
        return of(5);
      }
    }
    const odd = (await boot({ imports: [root()], providers: [Odd] }, lines)).get(Odd);
    await odd.find();
    expect([await odd.sync(), await odd.sync(), await odd.find()]).toEqual([5, 5, 2]);
    expect(lines.ofCache('warn')).toEqual([
      expect.stringMatching(/@CacheEvict on Odd\.sync: the method returned a value and no Promise/),
    ]);
    await expect(odd.observable()).rejects.toThrow(/@CacheEvict on Odd\.observable.*firstValueFrom/);
  });
});
