import {
  Controller,
  Get,
  Headers,
  Injectable,
  Ip,
  Module,
  Next,
  Query,
  Req,
  Res,
  Scope,
  Session,
  type Type,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Cached, ConfigurationError, StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { boot, bootError, Lines } from './kit.js';

const root = () => StampedeCacheModule.forRoot();

const refusal = async (...providers: Type[]) => {
  const error = await bootError({ imports: [root()], providers });
  expect(error).toBeInstanceOf(ConfigurationError);
  return error.message;
};

describe('The bootstrap refuses, by class, method, option and value', () => {
  it.each<[string, object, RegExp]>([
    ['a missing ttl', {}, /Reader\.find: ttl is missing/],
    ['a ttl that is no duration', { ttl: '5 minutes' }, /Reader\.find: ttl.*'5 minutes'/],
    ['a ttl below 0', { ttl: -1 }, /Reader\.find: ttl.*-1/],
    ['a ttl that is NaN', { ttl: NaN }, /Reader\.find: ttl.*NaN/],
    ['an unknown option', { tll: '60s' }, /Reader\.find: unknown option 'tll'/],
    ['a key that is no function', { ttl: '60s', key: 'id' }, /Reader\.find: key .*'id'/],
    ['when that is no function', { ttl: '60s', when: true }, /Reader\.find: when .*true/],
    ['an empty name', { ttl: '60s', name: '' }, /Reader\.find: name .*''/],
    ['a cache that is no name', { ttl: '60s', cache: '' }, /Reader\.find.*cache/],
    ['a bad negativeErrors', { ttl: '60s', negativeErrors: 404 }, /Reader\.find: negativeErrors.*404/],
    ['tags that are none', { ttl: '60s', tags: 'all' }, /Reader\.find: tags.*'all'/],
    ['an empty tag', { ttl: '60s', tags: [''] }, /Reader\.find: tags.*''/],
    ['valueTags that are no function', { ttl: '60s', valueTags: ['a'] }, /Reader\.find: valueTags.*'a'/],
    ['an empty version', { ttl: '60s', version: '' }, /Reader\.find: version.*''/],
    ['a version that is NaN', { ttl: '60s', version: NaN }, /Reader\.find: version.*NaN/],
    ['a version that is no text', { ttl: '60s', version: {} }, /Reader\.find: version.*\{\}/],
    ['http that is no object', { ttl: '60s', http: 'public' }, /Reader\.find: http is an object.*'public'/],
    ['a misspelt http option', { ttl: '60s', http: { pubic: true } }, /Reader\.find: http.*'pubic'/],
    [
      'a compress that is none',
      { ttl: '60s', compress: 'gzip' },
      /Reader\.find: compress is true, false or .*'gzip'/,
    ],
    [
      'a shared that is no flag',
      { ttl: '60s', shared: 1 },
      /Reader\.find: shared is true or false, received 1/,
    ],
    [
      'an l1 that is none',
      { ttl: '60s', l1: { some: 'thing' } },
      /Reader\.find: l1 is true, false or \{ ttl: '5s' \}.*some: 'thing'/,
    ],
    ...['refresh', 'warm'].map((name): [string, object, RegExp] => [
      `${name}, which is not part of this version`,
      { ttl: '60s', [name]: { some: 'thing' } },
      new RegExp(`Reader\\.find: ${name} is not supported in this version.*some: 'thing'`),
    ]),
  ])('%s', async (_, options, message) => {
    class Reader {
      @Cached(options as { ttl: '60s' })
      async find() {
        return 1;
      }
    }
    Injectable()(Reader);
    expect(await refusal(Reader)).toMatch(message);
  });

  it('every problem at once', async () => {
    @Injectable()
    class Reader {
      @Cached()
      async a() {
        return 1;
      }
      @Cached({ ttl: 'x' as '1s' })
      async b() {
        return 1;
      }
    }
    expect((await refusal(Reader)).split('\n')).toEqual([
      expect.stringMatching(/^Reader\.a: /),
      expect.stringMatching(/^Reader\.b: /),
    ]);
  });

  it('two classes with one default name, also after a minifier (FC-034)', async () => {
    const make = () => {
      @Injectable()
      class t {
        @Cached({ ttl: '60s' })
        async get(id: number) {
          return id;
        }
      }
      return t;
    };
    const [One, Two] = [make(), make()];
    @Module({ providers: [One] })
    class OneModule {}
    @Module({ providers: [Two] })
    class TwoModule {}
    const error = await bootError({ imports: [root(), OneModule, TwoModule] });
    expect(error.message).toMatch(/t\.get of t \(in OneModule\) and t\.get of t \(in TwoModule\).*'t\.get'/);
  });

  it('a default name that another method was given', async () => {
    @Injectable()
    class A {
      @Cached({ ttl: '60s' })
      async get() {
        return 1;
      }
    }
    @Injectable()
    class B {
      @Cached({ ttl: '60s', name: 'A.get' })
      async get() {
        return 1;
      }
    }
    expect(await refusal(A, B)).toMatch(/'A\.get'/);
  });

  it('two instances of one class under two tokens, but not one under two', async () => {
    class Repo {
      constructor(readonly table: string) {}
      @Cached({ ttl: '60s' })
      async get(id: number) {
        return `${this.table} ${id}`;
      }
    }
    const two = [
      { provide: 'USERS', useFactory: () => new Repo('users') },
      { provide: 'POSTS', useFactory: () => new Repo('posts') },
    ];
    const error = await bootError({ imports: [root()], providers: two });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/Repo\.get: the tokens USERS, POSTS hold different instances of Repo/);
    await boot({
      imports: [root()],
      providers: [
        { provide: 'USERS', useFactory: () => new Repo('users') },
        { provide: 'ALIAS', useExisting: 'USERS' },
      ],
    });
  });

  it.each<[string, object]>([
    ['a key', { key: (id: number) => id }],
    ['a name', { name: 'repo' }],
    ['an own vary', { vary: () => 'x' }],
  ])('not two instances that have %s', async (_, options) => {
    class Repo {
      @Cached({ ttl: '60s', ...options })
      async get(id: number) {
        return id;
      }
    }
    await boot({
      imports: [root()],
      providers: [
        { provide: 'A', useFactory: () => new Repo() },
        { provide: 'B', useFactory: () => new Repo() },
      ],
    });
  });

  it('not one class that two modules provide under its own token', async () => {
    @Injectable()
    class Reader {
      @Cached({ ttl: '60s' })
      async get(id: number) {
        return id;
      }
    }
    @Module({ providers: [Reader] })
    class One {}
    @Module({ providers: [Reader] })
    class Two {}
    await boot({ imports: [root(), One, Two] });
  });

  it('a request-scoped host without key, name or vary of its own (FC-004)', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Profile {
      @Cached({ ttl: '60s' })
      async get() {
        return 1;
      }
    }
    expect(await refusal(Profile)).toMatch(/Profile\.get: Profile .* is request-scoped/);
  });

  it('a host that is request-scoped by what it depends on, transient or not (FC-004)', async () => {
    for (const scope of [Scope.DEFAULT, Scope.TRANSIENT]) {
      class Profile {
        constructor(readonly request: object) {}
        @Cached({ ttl: '60s', vary: false })
        async get() {
          return 1;
        }
      }
      Reflect.defineMetadata('self:paramtypes', [{ index: 0, param: REQUEST }], Profile);
      Injectable({ scope })(Profile);
      // Without a consumer NestJS 11 does not look at what a transient provider depends on.
      class Page {
        constructor(readonly profile: object) {}
      }
      Reflect.defineMetadata('self:paramtypes', [{ index: 0, param: Profile }], Page);
      Injectable()(Page);
      expect(await refusal(Profile, Page)).toMatch(/Profile\.get.*depends on a provider that is/);
    }
  });

  it.each<[string, ParameterDecorator]>([
    ['@Req()', Req()],
    ['@Res()', Res()],
    ['@Next()', Next()],
    ['@Session()', Session()],
    ['@Ip()', Ip()],
    ['@Headers() without a name', Headers()],
  ])('a controller handler with %s and no key', async (name, parameter) => {
    const make = (options: object) => {
      class Products {
        @Get()
        @Cached({ ttl: '60s', ...options })
        async list(input: unknown) {
          return typeof input;
        }
      }
      parameter(Products.prototype, 'list', 0);
      Controller()(Products);
      return Products;
    };
    const error = await bootError({ imports: [root()], controllers: [make({})] });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toContain(`Products.list: the handler takes ${name}`);
    await boot({ imports: [root()], controllers: [make({ key: () => 'all' })] });
  });

  it('not a handler whose inputs have names', async () => {
    @Controller()
    class Products {
      @Get()
      @Cached({ ttl: '60s' })
      async list(@Query('page') page: string, @Headers('accept-language') language: string) {
        return [page, language];
      }
    }
    await boot({ imports: [root()], controllers: [Products] });
  });
});

describe('The class definition refuses @Cached', () => {
  const decorate = (target: unknown, key?: unknown, descriptor?: unknown) => () =>
    (Cached({ ttl: '60s' }) as (...args: unknown[]) => void)(target, key, descriptor);
  const of = (target: object, key: string) => Object.getOwnPropertyDescriptor(target, key);

  class Odd {
    static make = 1;
    static async load() {
      return 1;
    }
    get value() {
      return 1;
    }
    async *rows() {
      yield 1;
    }
    *letters() {
      yield 1;
    }
  }

  it.each<[string, () => void, RegExp]>([
    ['on a class', decorate(Odd), /on the class Odd.*@CachedRoute/],
    ['on a static method', decorate(Odd, 'load', of(Odd, 'load')), /Odd\.load is static/],
    [
      'on a getter (FC-082)',
      decorate(Odd.prototype, 'value', of(Odd.prototype, 'value')),
      /Odd\.value is a getter/,
    ],
    ['on a property (FC-082)', decorate(Odd.prototype, 'field'), /Odd\.field is not a method/],
    [
      'on an async generator (FC-096)',
      decorate(Odd.prototype, 'rows', of(Odd.prototype, 'rows')),
      /Odd\.rows is a generator/,
    ],
    [
      'on a generator (FC-096)',
      decorate(Odd.prototype, 'letters', of(Odd.prototype, 'letters')),
      /Odd\.letters is a generator/,
    ],
  ])('%s', (_, act, message) => {
    expect(act).toThrow(ConfigurationError);
    expect(act).toThrow(message);
  });

  it('twice on one method', () => {
    expect(() => {
      class Twice {
        @Cached({ ttl: '60s' })
        @Cached({ ttl: '60s' })
        async get() {
          return 1;
        }
      }
      return Twice;
    }).toThrow(/Twice\.get has @Cached twice/);
  });
});

describe('The bootstrap warns once', () => {
  it('of a ttl that looks like seconds, at the method that says so', async () => {
    const lines = new Lines();
    @Injectable()
    class Reader {
      @Cached({ ttl: 60 })
      async find() {
        return 1;
      }
    }
    const app = await boot({ imports: [root()], providers: [Reader] }, lines);
    await app.get(Reader).find();
    expect(lines.ofCache('warn')).toEqual([
      expect.stringMatching(/Reader\.find: ttl 60 .*did you mean '60s'/),
    ]);
  });

  it('of a module-wide ttl that looks like seconds, not at every method', async () => {
    const lines = new Lines();
    @Injectable()
    class Reader {
      @Cached()
      async a() {
        return 1;
      }
      @Cached()
      async b() {
        return 1;
      }
    }
    await boot(
      { imports: [StampedeCacheModule.forRoot({ policy: { ttl: 60 } })], providers: [Reader] },
      lines,
    );
    expect(lines.ofCache('warn')).toEqual([expect.stringMatching(/policy: ttl 60 .*did you mean '60s'/)]);
  });

  it('of a name that two methods were given', async () => {
    const lines = new Lines();
    @Injectable()
    class Reader {
      @Cached({ ttl: '60s', name: 'both' })
      async a() {
        return 1;
      }
      @Cached({ ttl: '60s', name: 'both' })
      async b() {
        return 1;
      }
    }
    const app = await boot({ imports: [root()], providers: [Reader] }, lines);
    expect(lines.ofCache('warn')).toEqual([
      expect.stringMatching(/Reader\.a and Reader\.b share the name 'both'/),
    ]);
    expect(app.get(StampedeCacheService).of(Reader, 'a').key()).toBe('both:');
  });
});
