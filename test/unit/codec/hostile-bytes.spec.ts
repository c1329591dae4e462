import { DecodeError, decodeValue, encodeValue, resolveTypes } from '../../../lib/core/codec/index.js';
import { Product, ProductNotFound } from './fixtures.js';

function read(text: string): unknown {
  return decodeValue('t', Buffer.from(text));
}

describe('bytes nobody of ours wrote', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['half a text', Buffer.from('{"a":')],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['half a character', Buffer.from('"é"').subarray(0, 2)],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['a byte order mark', Buffer.from('\ufeff1')],
    ['two values', Buffer.from('1 2')],
  ])('are refused by either codec: %s', (_kind, bytes) => {
    expect(() => decodeValue('j', bytes)).toThrow(DecodeError);
    expect(() => decodeValue('t', bytes)).toThrow(DecodeError);
  });

  it.each(['', 'x', 'J', 'jt', '__proto__'])('are refused under the unknown codec %p', (codec) => {
    expect(() => decodeValue(codec, Buffer.from('1'))).toThrow(`no codec is called '${codec}'`);
  });

  it.each([
    ...[
      '"~"',
      '"~q"',
      '"~ux"',
      '"~#Map"',
      '"~b"',
      '"~b01"',
      '"~b1.5"',
      '"~b-0"',
      '"~b0x1f"',
      '"~dx"',
      '"~d1e3"',
    ],
    ...[
      '"~d9e15"',
      '"~d 1"',
      '"~BAA"',
      '"~BA=A="',
      '"~B!!!!"',
      '"~Unope"',
      '"~Uhttp://a b"',
      '"~UHTTP://a/"',
    ],
    ...[
      '["~#Nope",1]',
      '["~#"]',
      '["~#Map",1]',
      '["~#Map",1,2,1,3]',
      '["~#Set",1,1]',
      '["~#RegExp","(","",0]',
    ],
    ...[
      '["~#RegExp","a","x",0]',
      '["~#RegExp","a","g"]',
      '["~#RegExp","a","g",1.5]',
      '["~#RegExp","/","",0]',
    ],
    ...[
      '["~#Uint8Array",5]',
      '["~#Uint8Array","AA==","AA=="]',
      '["~#Int32Array","AA=="]',
      '["~#Uint8Array","A"]',
    ],
    ...['["~#SharedArrayBuffer","AA=="]', '["~#Function","return 1"]', '["~#URLSearchParams","?a=1"]'],
    ...[
      '["~#null"]',
      '["~#null",[1]]',
      '["~#null",{},1]',
      '["~#Error","Error",{}]',
      '["~#Error","Nope",{},{}]',
    ],
    ...[
      '["~#Error","Function",{},{}]',
      '["~#Error",1,{},{}]',
      '["~#class","Product",{}]',
      '["~#class","Object",{}]',
    ],
    ...[
      '["~#class-error","Error",{},{}]',
      '["~#Array",-1,{}]',
      '["~#Array",1.5,{}]',
      '["~#Array",4294967296,{}]',
    ],
    ...['["~#Array",1,{"1":0}]', '["~#Array",1,{"length":0}]', '["~#Array","1",{}]', '["~#Array",1,[1]]'],
  ])('are refused where a mark is malformed: %s', (text) => {
    expect(() => read(text)).toThrow(DecodeError);
    expect(() => read(`{"a":[1,${text}]}`)).toThrow(DecodeError);
  });

  it('are refused where an error stands for another class or the other way round', () => {
    const product = resolveTypes(Product, 'test');
    const notFound = resolveTypes(ProductNotFound, 'test');
    expect(() => decodeValue('t', Buffer.from('["~#class-error","Product",{},{}]'), product)).toThrow(
      DecodeError,
    );
    expect(() => decodeValue('t', Buffer.from('["~#class","ProductNotFound",{}]'), notFound)).toThrow(
      DecodeError,
    );
  });

  it('reach no prototype', () => {
    const hostile = '{"admin":true,"a":"~u"}';
    const value = read(
      `{"__proto__":${hostile},"list":["~#Array",1,{"__proto__":${hostile}}],"bare":["~#null",{"__proto__":${hostile}}],` +
        `"error":["~#Error","Error",{"__proto__":${hostile}},{"__proto__":${hostile}}],` +
        `"constructor":{"prototype":{"admin":true}}}`,
    ) as Record<string, Record<string, unknown>>;
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(value['list'])).toBe(Array.prototype);
    expect(Object.getPrototypeOf(value['bare'])).toBeNull();
    expect(Object.getPrototypeOf(value['error'])).toBe(Error.prototype);
    expect(Object.getOwnPropertyDescriptor(value, '__proto__')?.value).toEqual({ admin: true, a: undefined });
  });

  it('are refused where a bigint is written in the way of the other size', () => {
    const digits = '1'.repeat(1_000);
    expect(read(`"~b-${digits}"`)).toBe(-BigInt(digits));
    for (const text of [
      `${digits}1`,
      `-${digits}1`,
      `0x${BigInt(digits).toString(16)}`,
      `0x0${digits}`,
      '0x',
    ]) {
      expect(() => read(`"~b${text}"`)).toThrow(DecodeError);
    }
  });

  it('cost no more time than their size allows: eight million digits', () => {
    const started = performance.now();
    expect(() => read(`"~b${'9'.repeat(8_000_000)}"`)).toThrow(DecodeError);
    expect(typeof read(`"~b-0x${'f'.repeat(8_000_000)}"`)).toBe('bigint');
    // As decimals they would take five seconds and more.
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it('cost no memory beyond their own size, whatever length they claim', () => {
    const before = process.memoryUsage().rss;
    const arrays = [];
    for (let i = 0; i < 50; i++) arrays.push(read('["~#Array",30000000,{"29999999":1,"0":2}]'));
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 2 ** 20);
    expect(arrays.map((array) => (array as unknown[]).length)).toEqual(
      Array.from({ length: 50 }, () => 30_000_000),
    );
  });

  it.each([
    ['[', ']'],
    ['{"a":', '}'],
    ['["~#Set",', ']'],
    ['["~#null",{"a":', '}]'],
    ['["~#Map",1,', ']'],
    ['["~#Map",', ',1]'],
    ['["~#Array",1,{"0":', '}]'],
    ['["~#Error","Error",{"cause":', '},{}]'],
  ])('neither crash nor overflow the stack, a hundred thousand deep: %s', (opening, closing) => {
    expect(() => read(`${opening.repeat(100_000)}0${closing.repeat(100_000)}`)).toThrow('nested too deep');
  });

  it('of plain JSON may be deep, since the parser of the platform does not recurse', () => {
    const bytes = Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(Array.isArray(decodeValue('j', bytes))).toBe(true);
  });

  it('are read as deep as a writer may write', () => {
    let value: unknown = new Error('innermost');
    for (let i = 0; i < 499; i++) value = new Error('outer', { cause: value });
    const { codec, bytes } = encodeValue(value);
    expect(decodeValue(codec, bytes)).toBeInstanceOf(Error);
  });
});
