import { EventEmitter } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import {
  encodeArgs,
  encodeKey,
  encodePart,
  encodeParts,
  UnencodableKeyPart,
  type Key,
  type KeyPart,
} from '../../../lib/core/keys/index.js';

class ListDto {
  page = 1;
  sort?: string;
}

class ObjectId {
  constructor(private readonly hex: string) {}
  toJSON(): string {
    return this.hex;
  }
}

describe('the text of a key part', () => {
  it.each<[unknown, string]>([
    [42, '42'],
    [-1.5, '-1.5'],
    [1e21, '1e+21'],
    [10n, '10n'],
    [true, 'true'],
    [null, 'null'],
    [undefined, 'undefined'],
    [NaN, 'NaN'],
    ['', "''"],
    ['a@b.c', "'a@b.c'"],
    ["it's 50%", "'it%27s%2050%25'"],
    ['{tag}#1', "'%7Btag%7D%231'"],
    ['é\n\0', "'%C3%A9%0A%00'"],
    ['\ud83d', "'%uD83D'"],
    [[1, ['a']], "[1,['a']]"],
    [{ page: 1, 'sort by': 'x', a: {} }, "(a:(),page:1,'sort%20by':'x')"],
    [new Date(0), 'Date(1970-01-01T00:00:00.000Z)'],
    [new Date(NaN), 'Date(NaN)'],
    [/a{2}/gi, "RegExp('a%7B2%7D','gi')"],
    [new URL('http://h/p?q=1#f'), "URL('http://h/p?q=1%23f')"],
    [Buffer.from([1, 2, 3]), 'Buffer(AQID)'],
    [new Uint8Array([1, 2, 3]), 'Uint8Array(AQID)'],
    [
      new Map<unknown, unknown>([
        ['b', 1],
        ['a', undefined],
      ]),
      "Map('a'=undefined,'b'=1)",
    ],
    [new Set(['b', 'a']), "Set('a','b')"],
    [new ListDto(), '(page:1)'],
    [new ObjectId('507f'), "toJSON('507f')"],
  ])('of %p is readable', (part, text) => {
    expect(encodePart(part)).toBe(text);
  });

  it('of a long string is a hash, whose look a short string cannot have', () => {
    const long = encodePart('x'.repeat(201));
    expect(long).toMatch(/^'#[\w-]{43}'$/);
    expect(encodePart(long.slice(1, -1))).not.toBe(long);
    expect(encodePart('x'.repeat(200))).toBe(`'${'x'.repeat(200)}'`);
  });

  it('of long bytes is a hash', () => {
    expect(encodePart(Buffer.alloc(151))).toMatch(/^Buffer\(#[\w-]{43}\)$/);
    expect(encodePart(Buffer.alloc(151))).not.toBe(encodePart(Buffer.alloc(152)));
  });

  it('is that of the visible bytes of a view, not of the buffer behind it', () => {
    const whole = new Uint8Array([9, 1, 2, 9]);
    expect(encodePart(whole.subarray(1, 3))).toBe(encodePart(new Uint8Array([1, 2])));
    expect(encodePart(new Uint16Array([1]))).not.toBe(encodePart(new Uint8Array([1, 0])));
  });

  it('tells where a global expression goes on', () => {
    const used = /a/g;
    used.exec('aa');
    expect(encodePart(used)).not.toBe(encodePart(/a/g));
  });
});

describe('parts that share a text', () => {
  it.each<[string, unknown, unknown]>([
    ['0 and -0', 0, -0],
    ['NaN and itself', NaN, Number('x')],
    ['objects with their properties in another order', { a: 1, b: 2 }, { b: 2, a: 1 }],
    ['an undefined property and none', {}, { order: undefined }],
    ['a DTO and a plain object', new ListDto(), { page: 1 }],
    ['an object without prototype and a plain one', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    [
      'objects of two realms',
      runInNewContext('({ a: [new Date(0), new Map([[1, 2]])] })'),
      { a: [new Date(0), new Map([[1, 2]])] },
    ],
    ['Sets in another order', new Set([1, { a: 1 }]), new Set([{ a: 1 }, 1])],
    [
      'Maps in another order',
      new Map([
        [1, 2],
        [3, 4],
      ]),
      new Map([
        [3, 4],
        [1, 2],
      ]),
    ],
    [
      '20 properties in another order',
      Object.fromEntries('tsrqponmlkjihgfedcba'.split('').map((k) => [k, 1])),
      Object.fromEntries('abcdefghijklmnopqrst'.split('').map((k) => [k, 1])),
    ],
  ])('%s', (_, a, b) => {
    expect(encodePart(a)).toBe(encodePart(b));
  });

  it('calls with and without undefined arguments at the end', () => {
    expect(encodeArgs([])).toBe(encodeArgs([undefined, undefined]));
    expect(encodeArgs([1])).toBe(encodeArgs([1, undefined]));
    expect(encodeArgs([undefined, 1])).not.toBe(encodeArgs([1]));
    expect(encodeParts([1])).not.toBe(encodeParts([1, undefined]));
  });
});

describe('a list of parts', () => {
  it('differs from a list that holds the list', () => {
    expect(encodeParts(['a'])).not.toBe(encodeParts([['a']]));
  });

  it('differs, as a key, from its only part', () => {
    const texts = ['a', ['a'], [['a']], [], [[]], ['a', 'b'], [['a', 'b']], "'a','b'"].map((key) =>
      encodeKey(key),
    );
    expect(new Set(texts).size).toBe(texts.length);
  });
});

function refusal(part: unknown): UnencodableKeyPart {
  try {
    encodeArgs([0, part]);
  } catch (error) {
    if (error instanceof UnencodableKeyPart) return error;
    throw error;
  }
  throw new Error('was encoded');
}

describe('what cannot be encoded', () => {
  class Secret {
    id = 1;
    readonly #key = 'k';
    read(): string {
      return this.#key;
    }
  }
  class DerivedSecret extends Secret {
    more = 2;
  }
  class Empty {}
  class Broken {
    id = 1;
    toJSON(): never {
      throw new RangeError('no');
    }
  }
  class Query {
    table = 'users';
    // oxlint-disable-next-line unicorn/no-thenable -- query builders are thenables, that is the point
    then(): void {}
  }
  const circular: Record<string, unknown> = { list: [] };
  circular['list'] = [1, { back: circular }];
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { in: deep(levels - 1) });

  it.each<[string, unknown, string, RegExp]>([
    ['a function', () => 1, '[1]', /function/],
    ['a named method', { handlers: [{ run() {} }] }, '[1].handlers[0].run', /function \(run\)/],
    ['a symbol', { a: Symbol('s') }, '[1].a', /symbol/],
    ['a symbol key', { a: { [Symbol('s')]: 1 } }, '[1].a', /symbol key/],
    ['a promise', Promise.resolve(1), '[1]', /promise/],
    ['a thenable query', new Query(), '[1]', /promise \(Query\)/],
    ['a stream', Readable.from([]), '[1]', /stream/],
    ['a web stream', new ReadableStream(), '[1]', /stream/],
    ['an HTTP request', { req: new IncomingMessage(new Socket()) }, '[1].req', /IncomingMessage/],
    ['a fetch request', new Request('http://localhost/'), '[1]', /Request/],
    ['an emitter', new EventEmitter(), '[1]', /event emitter/],
    ['a WeakMap', new WeakMap(), '[1]', /WeakMap/],
    [
      'a class over a WeakMap',
      Object.assign(new (class Registry extends WeakMap {})(), { id: 1 }),
      '[1]',
      /Registry \(a WeakMap\)/,
    ],
    ['an Error', new Error('x'), '[1]', /Error/],
    ['a boxed primitive', Object('x'), '[1]', /boxed/],
    ['#private state', new Secret(), '[1]', /Secret.*#private/],
    ['inherited #private state', new DerivedSecret(), '[1]', /DerivedSecret.*#private.*Secret/],
    ['an instance without properties', new Empty(), '[1]', /Empty without a property/],
    ['an iterator', [1].values(), '[1]', /without a property/],
    ['a generator', (function* () {})(), '[1]', /without a property/],
    ['a circular value', circular, '[1].list[1].back', /circular/],
    ['a value of 101 levels', deep(101), `[1]${'.in'.repeat(100)}`, /deeper than 100/],
    ['an array with a named property', Object.assign([1], { total: 5 }), '[1]', /named property \(total\)/],
    [
      'an array with a property that looks like an index',
      Object.assign([1], { '-0': 5 }),
      '[1]',
      /named property/,
    ],
    ['a sparse array', Array.from({ length: 2 }).concat(Array(1)), '[1]', /sparse/],
    ['a Map with a property', Object.assign(new Map(), { total: 5 }), '[1]', /property of its own/],
    ['a Date with a property', Object.assign(new Date(0), { zone: 'x' }), '[1]', /property of its own/],
    ['a value inside a Map', new Map([['k', () => 1]]), '[1][0][1]', /function/],
    ['a value inside a Set', new Set([1, Symbol('s')]), '[1][1]', /symbol/],
    ['a property with an odd name', { 'a b': () => 1 }, '[1]["a b"]', /function/],
    ['what toJSON() returns', new ObjectId((() => 1) as unknown as string), '[1].toJSON()', /function/],
    ['a toJSON() that throws', new Broken(), '[1]', /toJSON\(\) threw/],
  ])('%s is refused with its path', (_, part, path, what) => {
    const error = refusal(part);
    expect(error.path).toBe(path);
    expect(error.what).toMatch(what);
    expect(error.segments[0]).toBe(1);
    expect(error.message).toContain(`${path} is ${error.what}`);
  });

  it('keeps the error of a toJSON() as its cause', () => {
    expect(refusal(new Broken()).cause).toEqual(new RangeError('no'));
  });

  it('is not what only looks like it', () => {
    class Colour {
      value = '#fff'; // no private name
    }
    class Money {
      readonly #cents = 5;
      toJSON(): number {
        return this.#cents;
      }
    }
    const twice = { a: 1 };
    expect(encodePart(new Colour())).toBe("(value:'%23fff')");
    expect(encodePart(new Money())).toBe('toJSON(5)');
    expect(encodePart([twice, twice])).toBe('[(a:1),(a:1)]');
    expect(encodePart({ emit: 1, on: true })).toBe('(emit:1,on:true)');
    expect(encodePart(deep(99))).toContain('(in:1)');
  });
});

describe('the type KeyPart', () => {
  interface Filter {
    status: string;
    page?: number;
  }

  it('takes interfaces, DTO instances and readonly lists without a cast', () => {
    const filter: Filter = { status: 'draft' };
    const parts: readonly KeyPart[] = [
      filter,
      new ListDto(),
      [1, 'a'] as const,
      new Map([[1, filter]]),
      Buffer.from('a'),
    ];
    const key: Key = parts;
    expect(encodeKey(key)).toContain("(status:'draft')");
    // @ts-expect-error a symbol is no part of a key
    const symbol: Key = Symbol('s');
    expect(() => encodeKey(symbol)).toThrow(UnencodableKeyPart);
  });
});
