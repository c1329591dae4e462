import { resolveTypes, type TypeMap } from '../../../lib/core/codec/index.js';

/** A class restored by its properties alone. */
export class Product {
  constructor(
    readonly id: number,
    public name: string,
  ) {
    Product.made += 1;
  }

  static made = 0;

  get label(): string {
    return `${this.name} (${this.id})`;
  }
}

/** Like decimal.js: every instance carries its class as a visible property. */
export class Money {
  readonly cents: number;

  constructor(cents: number) {
    Object.defineProperty(this, 'constructor', {
      value: Money,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    this.cents = cents;
  }

  plus(other: Money): Money {
    return new Money(this.cents + other.cents);
  }
}

export class ProductNotFound extends Error {
  override readonly name = 'ProductNotFound';

  constructor(readonly id: number) {
    super(`no product ${id}`, { cause: new RangeError('beyond the last') });
  }
}

/** One value of each kind, and the very bytes it was first stored as. */
export interface Fixture {
  readonly kind: string;
  readonly value: unknown;
  readonly codec: 'j' | 't';
  readonly text: string;
  readonly types?: TypeMap | undefined;
}

function plain(kind: string, value: unknown, text: string): Fixture {
  return { kind, value, codec: 'j', text };
}

function typed(kind: string, value: unknown, text: string, types?: TypeMap): Fixture {
  return { kind, value, codec: 't', text, types };
}

/** An array with holes everywhere but at these places. */
export function sparse(length: number, elements: Readonly<Record<number, unknown>>): unknown[] {
  const array: unknown[] = [];
  array.length = length;
  return Object.assign(array, elements);
}

function bare(properties: object): object {
  return Object.assign(Object.create(null) as object, properties);
}

const lonePair = { high: '\ud83d', low: '\ude00', pair: '\ud83d\ude00' };
const ownProto: unknown = JSON.parse('{"__proto__":{"admin":true},"constructor":1,"toJSON":2}');
const undefinedProto = JSON.parse('{"__proto__":0}') as Record<string, unknown>;
Object.defineProperty(undefinedProto, '__proto__', { value: undefined });
const at7 = Object.assign(/a\/b/giu, { lastIndex: 7 });
const coded = Object.assign(new TypeError('no such host', { cause: new Error('below') }), {
  code: 'ENOTFOUND',
});
const withoutErrors = new AggregateError([1], 'all');
Reflect.deleteProperty(withoutErrors, 'errors');
const bytes = new Uint8Array([0, 1, 127, 128, 255, 0, 0, 1]);

/** These texts are in stores already: a test that fails here means a new codec letter, never a new text. */
export const FIXTURES: readonly Fixture[] = [
  plain('null', null, 'null'),
  plain('true', true, 'true'),
  plain('false', false, 'false'),
  plain('zero', 0, '0'),
  plain('a fraction', -1.5e-7, '-1.5e-7'),
  plain('the greatest number', Number.MAX_VALUE, '1.7976931348623157e+308'),
  plain('the empty string', '', '""'),
  plain('a string with NUL and quotes', 'a\0"b"\n', String.raw`"a\u0000\"b\"\n"`),
  plain('torn surrogates', lonePair, String.raw`{"high":"\ud83d","low":"\ude00","pair":"😀"}`),
  plain('a string like a mark', '~d0', '"~d0"'),
  plain('an array like a container', ['~#Map', 1], '["~#Map",1]'),
  plain('an empty array', [], '[]'),
  plain('an empty object', {}, '{}'),
  plain('numeric and empty keys', { b: 1, 10: 2, 9: 3, '': 4 }, '{"9":3,"10":2,"b":1,"":4}'),
  plain('own __proto__', ownProto, '{"__proto__":{"admin":true},"constructor":1,"toJSON":2}'),
  typed('undefined', undefined, '"~u"'),
  typed('an undefined property', { a: undefined, b: 1 }, '{"a":"~u","b":1}'),
  typed('an undefined element', [undefined, 1], '["~u",1]'),
  typed('an undefined __proto__', undefinedProto, '{"__proto__":"~u"}'),
  typed('NaN', Number.NaN, '"~n"'),
  typed('minus zero', -0, '"~0"'),
  typed('Infinity', Number.POSITIVE_INFINITY, '"~+"'),
  typed('-Infinity', Number.NEGATIVE_INFINITY, '"~-"'),
  typed('bigint', [10n, 0n, -(2n ** 70n)], '["~b10","~b0","~b-1180591620717411303424"]'),
  typed('Date', new Date('2024-02-29T12:00:00.123Z'), '"~d1709208000123"'),
  typed('a Date before 1970', new Date(-1), '"~d-1"'),
  typed('an invalid Date', new Date(Number.NaN), '"~d"'),
  typed('strings like marks', ['~', '~~', '~d0', 0n, '#'], '["~~","~~~","~~d0","~b0","#"]'),
  typed(
    'arrays like containers',
    [['~#Map', 1n], ['~u'], ['~~#Set']],
    '[["~~#Map","~b1"],["~~u"],["~~~#Set"]]',
  ),
  typed('keys like marks', { '~u': 0n, '~#Map': [] }, '{"~u":"~b0","~#Map":[]}'),
  typed(
    'Map',
    new Map<unknown, unknown>([[{ k: 1 }, new Map([[Number.NaN, undefined]])]]),
    '["~#Map",{"k":1},["~#Map","~n","~u"]]',
  ),
  typed('an empty Map', new Map(), '["~#Map"]'),
  typed('Set', new Set([new Set([1]), '~#Set', undefined]), '["~#Set",["~#Set",1],"~~#Set","~u"]'),
  typed('Buffer', Buffer.from([0, 255]), '"~BAP8="'),
  typed('an empty Buffer', Buffer.alloc(0), '"~B"'),
  typed('Uint8Array', bytes.slice(), '["~#Uint8Array","AAF/gP8AAAE="]'),
  typed('Uint8ClampedArray', new Uint8ClampedArray([300]), '["~#Uint8ClampedArray","/w=="]'),
  typed('Int8Array', new Int8Array([-1]), '["~#Int8Array","/w=="]'),
  typed('Int16Array', new Int16Array([-2, 1]), '["~#Int16Array","/v8BAA=="]'),
  typed('Uint16Array', new Uint16Array([1]), '["~#Uint16Array","AQA="]'),
  typed('Int32Array', new Int32Array([-1]), '["~#Int32Array","/////w=="]'),
  typed('Uint32Array', new Uint32Array([1]), '["~#Uint32Array","AQAAAA=="]'),
  typed('Float32Array', new Float32Array([1.5]), '["~#Float32Array","AADAPw=="]'),
  typed('Float64Array', new Float64Array([-0, Number.NaN]), '["~#Float64Array","AAAAAAAAAIAAAAAAAAD4fw=="]'),
  typed('BigInt64Array', new BigInt64Array([-1n]), '["~#BigInt64Array","//////////8="]'),
  typed('BigUint64Array', new BigUint64Array([1n]), '["~#BigUint64Array","AQAAAAAAAAA="]'),
  typed('a view of a part', new Uint8Array(bytes.buffer, 2, 2), '["~#Uint8Array","f4A="]'),
  typed('ArrayBuffer', bytes.slice().buffer, '["~#ArrayBuffer","AAF/gP8AAAE="]'),
  typed('DataView', new DataView(bytes.buffer, 1, 2), '["~#DataView","AX8="]'),
  typed('RegExp', at7, String.raw`["~#RegExp","a\\/b","giu",7]`),
  typed(
    'URL',
    new URL('https://user@example.com:8443/a%20b?c=d#e'),
    '"~Uhttps://user@example.com:8443/a%20b?c=d#e"',
  ),
  typed('URLSearchParams', new URLSearchParams('a=1&a=%26&b='), '["~#URLSearchParams","a=1&a=%26&b="]'),
  typed('a sparse array', sparse(5, { 1: 'a', 3: undefined }), '["~#Array",5,{"1":"a","3":"~u"}]'),
  typed(
    'an array with as many properties as holes',
    Object.assign(sparse(2, { 1: 'a' }), { x: 1 }),
    '["~#Array",2,{"1":"a","x":1}]',
  ),
  typed('an array of holes', sparse(3, {}), '["~#Array",3,{}]'),
  typed(
    'a huge sparse array',
    sparse(4_294_967_295, { 4_294_967_294: 1 }),
    '["~#Array",4294967295,{"4294967294":1}]',
  ),
  typed(
    'an array with properties',
    Object.assign(['b'], { index: 1, input: 'abc' }),
    '["~#Array",1,{"0":"b","index":1,"input":"abc"}]',
  ),
  typed('an object without a prototype', { o: bare({ a: 1 }) }, '{"o":["~#null",{"a":1}]}'),
  typed('Error', new Error('boom'), '["~#Error","Error",{"message":"boom"},{}]'),
  typed('an Error without a message', new EvalError(), '["~#Error","EvalError",{},{}]'),
  typed(
    'an Error with cause and code',
    coded,
    '["~#Error","TypeError",{"message":"no such host","cause":["~#Error","Error",{"message":"below"},{}]},{"code":"ENOTFOUND"}]',
  ),
  typed(
    'AggregateError',
    new AggregateError([new RangeError('r'), 0], 'all'),
    '["~#Error","AggregateError",{"message":"all","errors":[["~#Error","RangeError",{"message":"r"},{}],0]},{}]',
  ),
  typed(
    'an AggregateError without its errors',
    withoutErrors,
    '["~#Error","AggregateError",{"message":"all"},{}]',
  ),
  typed(
    'an instance',
    new Product(1, '~x'),
    '["~#class","Product",{"id":1,"name":"~~x"}]',
    resolveTypes(Product, 'fixture'),
  ),
  typed(
    'an instance at a path, with its class as a property',
    { items: [{ price: new Money(5) }] },
    '{"items":[{"price":["~#class","Money",{"cents":5},1]}]}',
    resolveTypes({ 'items[].price': Money }, 'fixture'),
  ),
  typed(
    'an instance of an Error class',
    new ProductNotFound(7),
    '["~#class-error","ProductNotFound",{"message":"no product 7","cause":["~#Error","RangeError",{"message":"beyond the last"},{}]},{"id":7,"name":"ProductNotFound"}]',
    resolveTypes(ProductNotFound, 'fixture'),
  ),
];
