import { Inject, Injectable, Module, Scope } from '@nestjs/common';
import { ContextIdFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { Cached, StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { boot, compile, Lines } from './kit.js';

const root = () => StampedeCacheModule.forRoot({ policy: { ttl: '60s' } });

/** A class that counts how often its method really runs. */
function counted() {
  @Injectable()
  class Counted {
    static runs = 0;
    @Cached()
    async find(id: number) {
      Counted.runs += 1;
      return { id };
    }
  }
  return Counted;
}

const twice = async (host: { find(id: number): Promise<unknown> }) => {
  await Promise.all([host.find(1), host.find(1)]);
  await host.find(1);
};

describe('@Cached works on', () => {
  it('a singleton provider', async () => {
    const Counted = counted();
    const app = await boot({ imports: [root()], providers: [Counted] });
    await twice(app.get(Counted));
    expect(Counted.runs).toBe(1);
  });

  it('a transient provider, whose instances share entries', async () => {
    let runs = 0;
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient {
      @Cached()
      async find(id: number) {
        runs += 1;
        return id;
      }
    }
    @Injectable()
    class A {
      constructor(readonly inner: Transient) {}
    }
    @Injectable()
    class B {
      constructor(readonly inner: Transient) {}
    }
    const app = await boot({ imports: [root()], providers: [Transient, A, B] });
    const [a, b] = [app.get(A).inner, app.get(B).inner];
    expect(a).not.toBe(b);
    await twice(a);
    await twice(b);
    expect(runs).toBe(1);
  });

  it('a request-scoped provider that says what its answers depend on', async () => {
    let runs = 0;
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      tenant = 'none';
      @Cached({
        key(id) {
          return [this.tenant, id];
        },
      })
      async find(id: number) {
        runs += 1;
        return `${this.tenant} ${id}`;
      }
    }
    const app = await boot({ imports: [root()], providers: [PerRequest] });
    const make = async (tenant: string) => {
      const instance = await app.resolve(PerRequest, ContextIdFactory.create());
      instance.tenant = tenant;
      return instance;
    };
    const [a, b, other] = [await make('a'), await make('a'), await make('b')];
    expect(await Promise.all([a.find(1), b.find(1), other.find(1)])).toEqual(['a 1', 'a 1', 'b 1']);
    expect(runs).toBe(2);
  });

  it.each(['useFactory', 'useValue'])('an instance that %s made', async (kind) => {
    const Counted = counted();
    const provider =
      kind === 'useFactory'
        ? { provide: 'X', useFactory: () => new Counted() }
        : { provide: 'X', useValue: new Counted() };
    const app = await boot({ imports: [root()], providers: [provider] });
    await twice(app.get('X'));
    expect(Counted.runs).toBe(1);
  });

  it('an instance handed to attach()', async () => {
    const Counted = counted();
    const app = await boot({ imports: [root()] });
    const cache = app.get(StampedeCacheService);
    const mine = new Counted();
    cache.attach(mine);
    await twice(mine);
    expect(Counted.runs).toBe(1);
    expect(await cache.of(mine, 'find').get(1)).toEqual({ id: 1 });
    expect(() => cache.attach({})).toThrow(/no method that is @Cached/);
  });

  it('a frozen instance, and leaves no property on any', async () => {
    const Counted = counted();
    const frozen = Object.freeze(new Counted());
    const app = await boot({ imports: [root()], providers: [{ provide: 'X', useValue: frozen }] });
    await twice(app.get('X'));
    expect(Counted.runs).toBe(1);
    expect(Reflect.ownKeys(frozen)).toEqual([]);
    const other = await boot({ imports: [root()], providers: [Counted] });
    expect(Reflect.ownKeys(other.get(Counted))).toEqual([]);
  });

  it('inherited methods, under the name of the class of the instance', async () => {
    let runs = 0;
    abstract class Base {
      abstract readonly kind: string;
      @Cached()
      async find(id: number) {
        runs += 1;
        return `${this.kind} ${id}`;
      }
    }
    @Injectable()
    class Users extends Base {
      readonly kind = 'user';
    }
    @Injectable()
    class Posts extends Base {
      readonly kind = 'post';
      @Cached()
      async count() {
        return 1;
      }
    }
    const app = await boot({ imports: [root()], providers: [Users, Posts] });
    const [users, posts] = [app.get(Users), app.get(Posts)];
    await twice(users);
    await twice(posts);
    expect([await users.find(1), await posts.find(1), await posts.count()]).toEqual(['user 1', 'post 1', 1]);
    expect(runs).toBe(2);
    const cache = app.get(StampedeCacheService);
    expect(cache.of(Users, 'find').key(1)).toBe('Users.find:1');
    expect(() => cache.of(Base, 'find')).toThrow(/Users, Posts/);
  });

  it('an override that calls super: one entry, and one invalidation for all of it', async () => {
    const runs: string[] = [];
    class Base {
      @Cached()
      async find(id: number) {
        runs.push('base');
        return [id];
      }
    }
    @Injectable()
    class Both extends Base {
      @Cached()
      override async find(id: number) {
        runs.push('both');
        return [...(await super.find(id)), 'both'] as never;
      }
    }
    @Injectable()
    class Plain extends Base {
      override async find(id: number) {
        runs.push('plain');
        return super.find(id);
      }
    }
    const app = await boot({ imports: [root()], providers: [Both, Plain] });
    await twice(app.get(Both));
    expect(await app.get(Both).find(1)).toEqual([1, 'both']);
    expect(runs).toEqual(['both', 'base']);
    await twice(app.get(Plain));
    expect(runs).toEqual(['both', 'base', 'plain', 'plain', 'base', 'plain']);
    const cache = app.get(StampedeCacheService);
    for (const host of [Both, Plain]) {
      runs.length = 0;
      await cache.of(host, 'find').invalidate(1);
      await app.get<Base>(host).find(1);
      expect(runs).toContain('base');
    }
  });

  it('calls made in onModuleInit and methods bound in the constructor', async () => {
    let runs = 0;
    @Injectable()
    class Early {
      readonly bound = this.find.bind(this);
      @Cached()
      async find(id: number) {
        runs += 1;
        return id;
      }
      async onModuleInit() {
        await Promise.all([this.find(1), this.find(1), this.bound(1)]);
      }
    }
    const app = await boot({ imports: [root()], providers: [Early] });
    await app.get(Early).bound(1);
    expect(runs).toBe(1);
  });

  it('an application that was compiled and never initialised', async () => {
    const Counted = counted();
    const app = await compile({ imports: [root()], providers: [Counted] });
    await twice(app.get(Counted));
    expect(Counted.runs).toBe(1);
  });

  it('two applications in one process, each with its own cache', async () => {
    const Counted = counted();
    const Shared = counted();
    Object.defineProperty(Shared, 'name', { value: 'Shared' });
    const shared = new Shared();
    const metadata = () => ({
      imports: [root()],
      providers: [Counted, { provide: 'SHARED', useValue: shared }],
    });
    const first = () => one.get(Counted);
    const [one, two] = [await boot(metadata()), await boot(metadata())];
    await twice(one.get(Counted));
    await twice(two.get(Counted));
    expect(Counted.runs).toBe(2);
    await one.close();
    await first().find(1);
    expect(Counted.runs).toBe(3); // its cache is closed: straight to the method
    await two.get(Counted).find(1);
    expect(Counted.runs).toBe(3);
    const three = await boot(metadata()); // takes the shared instance over from the closed one
    await twice(shared);
    expect(Shared.runs).toBe(1);
    expect(three.get(StampedeCacheService).stats().outcomes.fresh).toBeGreaterThan(0);
  });

  it('a class whose instances hold #private state', async () => {
    @Injectable()
    class Private {
      #secret = 41;
      @Cached()
      async reveal() {
        return (this.#secret += 1);
      }
    }
    const app = await boot({ imports: [root()], providers: [Private] });
    expect([await app.get(Private).reveal(), await app.get(Private).reveal()]).toEqual([42, 42]);
  });

  it('symbol-named methods, and two methods of one class apart (FC-035)', async () => {
    const secret = Symbol('secret');
    @Injectable()
    class Two {
      @Cached()
      async a() {
        return 1;
      }
      @Cached()
      async b() {
        return 2;
      }
      @Cached()
      async [secret]() {
        return 3;
      }
    }
    const app = await boot({ imports: [root()], providers: [Two] });
    const two = app.get(Two);
    for (let i = 0; i < 2; i++)
      expect([await two.b(), await two.a(), await two[secret]()]).toEqual([2, 1, 3]);
  });

  it('classes whose module imports a cache that is not global', async () => {
    const Counted = counted();
    @Module({
      imports: [StampedeCacheModule.forRoot({ isGlobal: false, policy: { ttl: '60s' } })],
      providers: [Counted],
    })
    class FeatureModule {}
    const Elsewhere = counted();
    Object.defineProperty(Elsewhere, 'name', { value: 'Elsewhere' });
    const app = await boot({ imports: [FeatureModule], providers: [Elsewhere] });
    await twice(app.get(Counted, { strict: false }));
    await twice(app.get(Elsewhere));
    expect([Counted.runs, Elsewhere.runs]).toEqual([1, 1]);
  });
});

describe('@Cached leaves the method plain', () => {
  it('without Nest, and without a word', async () => {
    const Counted = counted();
    const warn = jest.spyOn(process.stdout, 'write');
    const error = jest.spyOn(process.stderr, 'write');
    await twice(new Counted());
    expect(Counted.runs).toBe(3);
    expect([warn.mock.calls.length, error.mock.calls.length]).toEqual([0, 0]);
    warn.mockRestore();
    error.mockRestore();
  });

  it('under Nest without the module, with one warning a class', async () => {
    const Counted = counted();
    const lines = new Lines();
    const app = await boot({ providers: [Counted] }, lines);
    await twice(app.get(Counted));
    expect(Counted.runs).toBe(3);
    expect(lines.ofCache()).toEqual([
      expect.stringMatching(/Counted\.find is @Cached and runs uncached.*forRoot\(\)/),
    ]);
  });

  it('in a constructor, where no cache can be yet', async () => {
    const Counted = counted();
    @Injectable()
    class InConstructor extends Counted {
      readonly first = this.find(1);
    }
    const app = await boot({ imports: [root()], providers: [InConstructor] });
    await app.get(InConstructor).first;
    await twice(app.get(InConstructor));
    expect(Counted.runs).toBe(2);
  });

  it('where a test replaces the service, or a mocker invents one', async () => {
    const Counted = counted();
    const replaced = await Test.createTestingModule({ imports: [root()], providers: [Counted] })
      .overrideProvider(StampedeCacheService)
      .useValue({ get: () => 'fake' })
      .compile();
    await replaced.init();
    await twice(replaced.get(Counted));
    expect(Counted.runs).toBe(3);
    await replaced.close();
    const mocked = await Test.createTestingModule({ providers: [Counted] })
      .useMocker(() => new Proxy({}, { get: (_, key) => (key === 'then' ? undefined : () => 'mocked') }))
      .compile();
    await twice(mocked.get(Counted));
    expect(Counted.runs).toBe(6);
  });

  it('in a subclass that overrides it without the decorator', async () => {
    const Counted = counted();
    let runs = 0;
    @Injectable()
    class Override extends Counted {
      override async find(id: number) {
        runs += 1;
        return { id };
      }
    }
    const app = await boot({ imports: [root()], providers: [Override] });
    await twice(app.get(Override));
    expect(runs).toBe(3);
    // What a super.find() would reach.
    expect(app.get(StampedeCacheService).of(Override, 'find').key(1)).toBe('Override.find:1');
  });
});

describe('A request-scoped factory', () => {
  it('attaches what it makes', async () => {
    const Counted = counted();
    const app = await boot({
      imports: [root()],
      providers: [
        {
          provide: 'X',
          scope: Scope.REQUEST,
          inject: [StampedeCacheService],
          useFactory: (cache: StampedeCacheService) => {
            const made = new Counted();
            cache.attach(made);
            return made;
          },
        },
      ],
    });
    await twice(await app.resolve('X'));
    expect(Counted.runs).toBe(1);
  });
});

describe('A provider that needs the service itself', () => {
  it('gets it beside its cached methods', async () => {
    @Injectable()
    class Both {
      constructor(@Inject(StampedeCacheService) readonly cache: StampedeCacheService) {}
      @Cached({ key: (id) => id })
      async find(id: number) {
        return { id };
      }
    }
    const app = await boot({ imports: [root()], providers: [Both] });
    const both = app.get(Both);
    const handle = both.cache.of(Both, 'find');
    await both.find(5);
    expect(await handle.get(5)).toEqual({ id: 5 });
    await handle.set([5], { id: 6 });
    expect(await both.find(5)).toEqual({ id: 6 });
    await handle.invalidate(5);
    expect(await handle.inspect(5)).toBeNull();
    expect(await both.find(5)).toEqual({ id: 5 });
    await expect(handle.set(5 as never, { id: 6 })).rejects.toThrow(/as a list/);
  });
});
