import {
  Body,
  createParamDecorator,
  Headers,
  HostParam,
  Ip,
  Next,
  Param,
  Query,
  Req,
  Res,
  type ExecutionContext,
} from '@nestjs/common';
import { parse } from 'node:querystring';
import 'reflect-metadata';
import { ConfigurationError } from '../../../../lib/core/errors.js';
import { encodeKey, encodeParts, entryKey } from '../../../../lib/core/keys/index.js';
import { contextOf, NEXT, resolve, RESPONSE, type TestRequest } from './kit.js';

const Custom = createParamDecorator((data: (context: ExecutionContext) => unknown, context) => data(context));
const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<TestRequest>();

describe('The parts of a reading', () => {
  class Products {
    find(
      @Param('id') _id: unknown,
      @Query('page') _page: unknown,
      @Headers('X-Region') _region: unknown,
      @Body('filter') _filter: unknown,
      @HostParam('shop') _shop: unknown,
    ) {}
  }
  const { reading, key } = resolve(Products);

  it('are the declared inputs, raw, each after its kind and name', () => {
    const request = {
      params: { id: '5', other: 'x' },
      query: { page: '2', utm: 'x' },
      headers: { 'x-region': 'EU', 'x-other': 'x' },
      body: { filter: { a: 1 }, other: 'x' },
      hosts: { shop: 'a' },
    };
    expect(reading(request).parts).toEqual([
      ...[':id', '5', '?page', '2', 'header:x-region', 'EU'],
      ...['body:filter', { a: 1 }, 'host:shop', 'a'],
    ]);
  });

  it('tell missing from empty, and one value from a list', () => {
    const texts = ['', 'page=', 'page=1', 'page=1&page=2', 'page=1,2', 'page=undefined'].map((query) =>
      key({ query: parse(query) }),
    );
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('are the same whatever the handler does not take', () => {
    expect(key({ query: parse('page=1&x=2') })).toBe(key({ query: parse('page=1') }));
  });

  it('never meet between kinds of the same name', () => {
    const keyOf = (decorate: ParameterDecorator, request: TestRequest) => {
      class One {
        find(): void {}
      }
      decorate(One.prototype, 'find', 0);
      return resolve(One).key(request);
    };
    const texts = [
      keyOf(Param('a'), { params: { a: '1' } }),
      keyOf(Query('a'), { query: { a: '1' } }),
      keyOf(Headers('a'), { headers: { a: '1' } }),
      keyOf(Body('a'), { body: { a: '1' } }),
      keyOf(HostParam('a'), { hosts: { a: '1' } }),
      keyOf(
        Custom(() => '1'),
        {},
      ),
      keyOf(Query(), { query: { a: '1' } }),
      keyOf(Param(), { params: { a: '1' } }),
      keyOf(Query(':a'), { query: { ':a': '1' } }),
    ];
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('are empty for a handler that takes nothing', () => {
    class Plain {
      find(): void {}
    }
    expect(resolve(Plain).reading({ query: { a: '1' } }).parts).toEqual([]);
  });

  it('do not name one input twice', () => {
    class Twice {
      find(
        @Query('a') _a: unknown,
        @Query('a') _again: unknown,
        @Headers('B') _b: unknown,
        @Headers('b') _c: unknown,
      ) {}
    }
    const parts = resolve(Twice, { inputs: { query: ['a'], headers: ['b'] } }).reading({
      query: { a: '1' },
      headers: { b: '2' },
    }).parts;
    expect(parts).toEqual(['?a', '1', 'header:b', '2']);
  });

  it('read the query of a request once, for it may be parsed at each look', () => {
    let looks = 0;
    const request = {
      get query() {
        looks += 1;
        return { a: '1', b: '2' };
      },
    };
    class Searches {
      find(@Query('a') _a: unknown, @Query('b') _b: unknown, @Param('id') _id: unknown) {}
    }
    const result = resolve(Searches).reading(request);
    expect(result.parts).toEqual(['?a', '1', '?b', '2', ':id', undefined]);
    expect(result.args).toEqual(['1', '2', undefined]);
    expect(looks).toBe(1);
  });

  it('do not look at a query that no parameter takes', () => {
    class ById {
      find(@Param('id') _id: unknown) {}
    }
    const request = {
      params: { id: '5' },
      get query(): unknown {
        throw new Error('looked at');
      },
    };
    expect(resolve(ById).reading(request).parts).toEqual([':id', '5']);
  });
});

describe('A whole kind', () => {
  class Searches {
    find(@Query() _query: unknown, @Query('a') _a: unknown) {}
  }

  it('of the query is all parameters, in any order', () => {
    const { key, reading } = resolve(Searches);
    expect(key({ query: parse('a=1&b=2') })).toBe(key({ query: parse('b=2&a=1') }));
    expect(key({ query: parse('a=1&b=2') })).not.toBe(key({ query: parse('a=1&b=2&c=3') }));
    expect(key({ query: parse('a=1&a=2') })).not.toBe(key({ query: parse('a=2&a=1') }));
    expect(reading({ query: { a: '1' } }).parts).toEqual(['?', { a: '1' }]);
  });

  it('of the query is what inputs.query names, beside what is declared by name', () => {
    const { key, reading } = resolve(Searches, { inputs: { query: ['b'] } });
    expect(key({ query: parse('a=1&b=2&utm=3') })).toBe(key({ query: parse('a=1&b=2') }));
    const { parts, args } = reading({ query: { a: '1', b: '2', utm: '3' } });
    expect(parts).toEqual(['?a', '1', '?b', '2']);
    expect(args).toEqual([{ a: '1', b: '2', utm: '3' }, '1']);
  });

  it('of the path is all parameters', () => {
    class ByPath {
      find(@Param() _params: unknown, @Param('a') _a: unknown) {}
    }
    expect(resolve(ByPath).reading({ params: { a: '1', b: '2' } }).parts).toEqual([':', { a: '1', b: '2' }]);
  });
});

describe('http.inputs', () => {
  it('add every kind of input to what is declared', () => {
    class Products {
      find(@Req() _request: unknown, @Param('id') _id: unknown) {}
    }
    const inputs = {
      params: ['slug'],
      query: ['page'],
      headers: ['X-Region'],
      body: ['filter'],
      cookies: ['theme'],
      session: ['userId'],
      ip: true,
    };
    const { reading } = resolve(Products, { inputs });
    const request = {
      params: { id: '5', slug: 's' },
      query: { page: '2' },
      headers: { 'x-region': 'EU', cookie: 'theme=dark' },
      body: { filter: 'f' },
      session: { userId: 7 },
      ip: '::1',
    };
    expect(reading(request).parts).toEqual([
      ...[':id', '5', ':slug', 's', '?page', '2', 'header:x-region', 'EU', 'body:filter', 'f'],
      ...['cookie:theme', 'dark', 'session:userId', 7, 'ip', '::1'],
    ]);
    expect(reading({}).parts.filter((_, i) => i % 2 === 1)).toEqual(
      Array.from({ length: 8 }, () => undefined),
    );
  });
});

describe('Headers of content negotiation', () => {
  class Products {
    find(@Headers('Accept-Language') _language: unknown, @Headers('x-raw') _raw: unknown) {}
  }
  const { key, reading } = resolve(Products);
  const language = (value: string) => key({ headers: { 'accept-language': value } });

  it('share a key in any spelling, and their arguments stay raw (FC-022)', () => {
    expect(language('EN')).toBe(language('en'));
    expect(language(' en-US , fr ;\tq = 0.5')).toBe(language('en-us,fr;q=0.5'));
    expect(language('en fr')).not.toBe(language('enfr'));
    expect(language('en')).not.toBe(language('fr'));
    expect(reading({ headers: { 'accept-language': 'EN' } }).args).toEqual(['EN', undefined]);
  });

  it('are left alone where something is quoted', () => {
    expect(language('a;b="X  y"')).not.toBe(language('a;b="x  y"'));
  });

  it('are the only ones that are changed', () => {
    expect(key({ headers: { 'x-raw': 'EN' } })).not.toBe(key({ headers: { 'x-raw': 'en' } }));
  });

  it('make a bounded key of any length, in linear time', () => {
    const long = 'x ,;= \t'.repeat(1200);
    const { id } = entryKey('Products.find', undefined, language(long));
    expect(id.length).toBeLessThanOrEqual(200);
    expect(language(`${long}a`)).not.toBe(language(`${long}b`));
  });
});

describe('Hostile requests', () => {
  class Products {
    find(
      @Query('hasOwnProperty') _a: unknown,
      @Query('__proto__') _b: unknown,
      @Headers('constructor') _c: unknown,
      @Body('toString') _d: unknown,
    ) {}
  }
  const { key, reading } = resolve(Products);
  const bare = (entries: Record<string, unknown>): object =>
    Object.assign(Object.create(null) as object, entries);

  it('find no member that every object inherits', () => {
    expect(key({ query: {}, body: {} })).toBe(key({ query: {}, body: {} }));
    expect(reading({ query: {}, body: {} }).parts[1]).toBeUndefined();
    expect(key({ query: bare({ hasOwnProperty: 'x' }) })).not.toBe(key({ query: bare({}) }));
  });

  it('have their own __proto__ in the key', () => {
    class Whole {
      find(@Query() _query: unknown) {}
    }
    const own = (text: string): TestRequest => ({ query: JSON.parse(text) as unknown });
    const whole = resolve(Whole);
    expect(whole.key(own('{"__proto__":"a"}'))).not.toBe(whole.key(own('{"__proto__":"b"}')));
    expect(whole.key(own('{"__proto__":"a"}'))).not.toBe(whole.key(own('{}')));
    expect(whole.key({ query: bare({ a: '1' }) })).toBe(whole.key({ query: { a: '1' } }));
  });

  it('make bounded keys of long lists and nested objects', () => {
    const list = Array.from({ length: 1000 }, (_, i) => String(i));
    const nested = { a: { b: { c: { d: list } } } };
    class Whole {
      find(@Query() _query: unknown) {}
    }
    const text = resolve(Whole).key({ query: { list, nested } });
    expect(entryKey('n', undefined, text).id.length).toBeLessThanOrEqual(200);
    expect(text).not.toBe(resolve(Whole).key({ query: { list: list.slice(1), nested } }));
  });

  it('can not hide one parameter in the name of another', () => {
    class Whole {
      find(@Query() _query: unknown) {}
    }
    const { key: whole } = resolve(Whole);
    const texts = [
      { a: '1', b: '2' },
      { a: "1',b:'2" },
      { "a:'1',b": '2' },
      { a: ['1', 'b', '2'] },
      { a: { '1': 'b' }, b: '2' },
    ].map((query) => whole({ query }));
    expect(new Set(texts).size).toBe(texts.length);
  });
});

describe('Bodies', () => {
  class Products {
    find(@Body('length') _length: unknown) {}
  }
  const { reading } = resolve(Products);

  it.each([
    ['a list has own members', ['a', 'b'], 2],
    ['a text has too', 'abc', 3],
    ['a buffer has none', Buffer.from('abc'), undefined],
    ['none stands for its properties', undefined, undefined],
    ['null stands for its properties', null, null],
    ['an object', { length: 'x' }, 'x'],
  ])('are read as Nest does: %s', (_, body, expected) => {
    expect(reading({ body }).parts).toEqual(['body:length', expected]);
    expect(reading({ body }).args).toEqual([expected]);
  });
});

describe('Cookies', () => {
  const { reading } = resolve(
    class {
      find(): void {}
    } as never,
    { inputs: { cookies: ['theme', 'toString'] } },
  );
  const theme = (request: TestRequest) => reading(request).parts[1];

  it.each([
    ['theme=dark; a=b', 'dark'],
    ['a=b;theme=dark', 'dark'],
    ['theme=a; theme=b', 'a'],
    ['theme="a b"', 'a b'],
    ['theme=a%20b', 'a b'],
    ['theme=%zz', '%zz'],
    ['theme=a=b', 'a=b'],
    ['\u00a0theme=a', undefined],
    ['theme', undefined],
    ['theme=', ''],
    ['Theme=a', undefined],
  ])('are found in the header %j', (cookie, expected) => {
    expect(theme({ headers: { cookie } })).toBe(expected);
  });

  it('are those that a parser found, if there is one', () => {
    expect(theme({ headers: { cookie: 'theme=a' }, cookies: { theme: { json: 1 } } })).toEqual({ json: 1 });
    expect(theme({ headers: { cookie: 'theme=a' }, cookies: {} })).toBeUndefined();
  });

  it('are never members that an object inherits', () => {
    expect(reading({ cookies: {} }).parts[3]).toBeUndefined();
  });
});

describe('The arguments of a reading', () => {
  class Products {
    find(
      @Param('id') _id: unknown,
      @Req() _request: unknown,
      @Res({ passthrough: true }) _response: unknown,
      @Next() _next: unknown,
      _undeclared: unknown,
      @Custom((context: ExecutionContext) => requestOf(context)['tenant']) _tenant: unknown,
    ) {}
  }

  it('stand in the order of the parameters, objects of the platform themselves', () => {
    const request = { params: { id: '5' }, tenant: 'a' };
    const { args, parts } = resolve(Products, { inputs: {} }).reading(request);
    expect(args).toEqual(['5', request, RESPONSE, NEXT, undefined, 'a']);
    expect(args[1]).toBe(request);
    expect(args[2]).toBe(RESPONSE);
    expect(parts).toEqual([':id', '5', '@5', 'a']);
  });

  it('are put together once, and only for whoever asks', () => {
    let looks = 0;
    const request = {
      params: {},
      get ip() {
        looks += 1;
        return '::1';
      },
    };
    class ByAddress {
      find(@Ip() _address: unknown) {}
    }
    const result = resolve(ByAddress, { inputs: { ip: false } }).reading(request);
    expect([result.parts, looks]).toEqual([[], 0]);
    expect(result.args).toEqual(['::1']);
    expect(looks).toBe(1);
    expect(result.args).toBe(result.args);
  });
});

describe('Custom decorators', () => {
  function taking(...factories: ((context: ExecutionContext) => unknown)[]) {
    class Products {
      find(): void {}
    }
    factories.forEach((factory, index) => Custom(factory)(Products.prototype, 'find', index));
    return resolve(Products);
  }

  it('get the data of the decorator and the real context', () => {
    const seen: unknown[] = [];
    const Product = createParamDecorator((data, context) => seen.push(data, context));
    class Products {
      find(@Product('x') _product: unknown) {}
    }
    const context = contextOf({});
    void resolve(Products).plan.reader.read(context, []);
    expect(seen[0]).toBe('x');
    expect(seen[1]).toBe(context);
  });

  it('are evaluated once for parts and arguments', () => {
    let runs = 0;
    const result = taking(() => (runs += 1)).reading({});
    expect([result.parts, result.args, runs]).toEqual([['@0', 1], [1], 1]);
  });

  it('make the reading wait where one is a Promise', async () => {
    const { plan } = taking(
      () => 'a',
      () => Promise.resolve('b'),
    );
    const pending = plan.reader.read(contextOf({}), []);
    expect(pending).toBeInstanceOf(Promise);
    expect((await pending)?.parts).toEqual(['@0', 'a', '@1', 'b']);
    expect((await pending)?.args).toEqual(['a', 'b']);
  });

  const fail = () => {
    throw new Error('no tenant');
  };
  it.each([[[]], [['authorization']]])('that throw make no reading, credentials %j', async (credentials) => {
    const read = (...factories: Parameters<typeof taking>) =>
      taking(...factories).plan.reader.read(contextOf({}), credentials);
    expect(read(fail)).toBeUndefined();
    expect(await read(() => Promise.reject(new Error('late')))).toBeUndefined();
    // The rejection of the first is nobody's: it must not end the process.
    expect(read(() => Promise.reject(new Error('late')), fail)).toBeUndefined();
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe('http.key', () => {
  class Products {
    find(
      @Query('page') _page: unknown,
      @Custom((context: ExecutionContext) => requestOf(context)['tenant'] ?? fail()) _tenant: unknown,
    ) {}
  }
  const fail = () => {
    throw new Error('no tenant');
  };

  it('is all that the key is made of, and tells a text from a list', () => {
    const one = resolve(Products, { key: (context) => String(requestOf(context)['a']) });
    expect(one.reading({ a: '1', query: { page: '2' } }).parts).toEqual(['1']);
    expect(one.key({ a: '1' })).toBe(encodeKey('1'));
    const list = resolve(Products, { key: () => ['1'] });
    expect(list.key({})).toBe(encodeKey(['1']));
    expect(list.key({})).not.toBe(one.key({ a: '1' }));
  });

  it('covers every credential', () => {
    expect(resolve(Products, { key: () => 1 }).reading({}, ['authorization', 'cookie']).isCovered).toBe(true);
  });

  it('leaves the arguments as they are, and custom decorators alone until they are asked for', () => {
    const subject = resolve(Products, { key: () => 1 });
    expect(subject.reading({ query: { page: '2' }, tenant: 'a' }).args).toEqual(['2', 'a']);
    expect(subject.reading({ query: { page: '2' } }).args).toEqual(['2', undefined]);
  });

  it('must not be a Promise', () => {
    const subject = resolve(Products, { key: () => Promise.reject(new Error('late')) });
    expect(() => subject.reading({})).toThrow(ConfigurationError);
    expect(() => subject.reading({})).toThrow('Products.find: http.key() returned a Promise');
  });

  it('fails with its own error', () => {
    const subject = resolve(Products, { key: fail });
    expect(() => subject.reading({})).toThrow('no tenant');
  });

  it('makes an empty list where it returns one', () => {
    expect(encodeParts(resolve(Products, { key: () => [] }).reading({}).parts)).toBe('[]');
  });
});
