import fc from 'fast-check';

import { decodeValue, resolveTypes } from '../../../lib/core/codec/index.js';
import { EncodedPayload, encodePayload, MOST_KEPT } from '../../../lib/core/entry/index.js';
import { anyValue, jsonValue, treeValue } from '../codec/arbitraries.js';
import { areApart, objectsIn, spoil, written } from '../codec/readers.js';
import { same } from '../codec/same.js';

const PLAIN = { types: undefined, serializer: undefined, shared: false } as const;
const SHARED = { ...PLAIN, shared: true } as const;

class Money {
  constructor(readonly amount = 1) {}
}
class Other {}

/** With room beside it, so that what can be kept is kept, however small. */
const roomy = <T>(value: T) => ({ room: 'x'.repeat(5_000), value });

const encoded = (value: unknown, types?: unknown) =>
  encodePayload(value, { ...PLAIN, types: resolveTypes(types as undefined, 'test') });

function counted<T>(run: () => T): { readonly value: T; readonly parsings: number } {
  const parse = jest.spyOn(JSON, 'parse');
  try {
    const value = run();
    return { value, parsings: parse.mock.calls.length };
  } finally {
    parse.mockRestore();
  }
}

/** Of so many reads, each counted. */
function parsings(payload: EncodedPayload, reads: number): readonly number[] {
  return Array.from({ length: reads }, () => counted(() => payload.read(PLAIN)).parsings);
}

/** Each reads what the bytes say, whatever those before did to theirs. */
function expectEachItsOwn({ codec, bytes }: EncodedPayload, mostKept?: number): void {
  const payload = new EncodedPayload(codec, bytes, undefined, mostKept);
  const expected = decodeValue(codec, bytes);
  const before: unknown[] = [];
  for (let reader = 1; reader <= 5; reader++) {
    const value = payload.read(PLAIN);
    expect(same(value, expected)).toBe(true);
    expect(written(value)).toBe(written(expected));
    for (const other of before) expect(areApart(value, other)).toBe(true);
    // The third holds its own while others come.
    if (reader !== 3) spoil(value);
    before.push(value);
  }
  expect(same(before[2], expected)).toBe(true);
}

describe('the readers of one payload', () => {
  it('each own what the bytes say, whatever the value', () => {
    fc.assert(
      fc.property(
        fc.oneof(anyValue, jsonValue, treeValue),
        fc.constantFrom(undefined, 0, MOST_KEPT),
        (value, most) => {
          expectEachItsOwn(encoded(value), most);
          expectEachItsOwn(encoded(roomy(value)), most);
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each<[string, unknown]>([
    ['an empty object', {}],
    ['an empty array', []],
    ['a list', [1, [2], { a: [3] }]],
    ['a date', { at: new Date(1_700_000_000_000) }],
    ['an invalid date', [new Date(Number.NaN)]],
    ['undefined members', { a: undefined, list: [undefined] }],
    ['numbers JSON has no text for', [-0, Number.NaN, Infinity, -Infinity]],
    ['own names __proto__', JSON.parse('{"__proto__":{"a":{"__proto__":[1]}}}')],
    ['names that are an index', { b: [1], 10: [2], 2: { 7: [3], 1: [4] } }],
    ['a list with holes', Object.assign([1], { length: 4 })],
    ['a list with names', Object.assign([[1], { a: 1 }], { more: [1] })],
    ['an object without a prototype', { bare: Object.assign(Object.create(null) as object, { a: [1] }) }],
    ['a Map of lists', new Map([[{ key: 1 }, [1]]])],
    ['a Set of objects', new Set([{ a: [1] }])],
    ['a Buffer', { bytes: Buffer.from('abc') }],
    ['an error', { error: new Error('e', { cause: { of: ['it'] } }) }],
    ['bigints', [1n, 7n ** 400n]],
    ['one object in two places', ((one: object) => [one, { one }])({ a: [1] })],
    ['one date in two places', ((one: Date) => [one, { one }])(new Date(5))],
  ])('each own %s', (_what, value) => {
    expectEachItsOwn(encoded(value));
    expectEachItsOwn(encoded(roomy(value)));
  });

  it('each own 5,000 properties, in their order', () => {
    const names = Array.from({ length: 5_000 }, (_, i) => `k${(i * 7_919) % 5_000}`);
    const value = Object.fromEntries(names.map((name) => [name, { text: name.repeat(50) }]));
    const payload = encoded(value);
    expect(parsings(payload, 4)).toEqual([1, 1, 0, 0]);
    const [one, other] = [payload.read(PLAIN), payload.read(PLAIN)];
    expect(Object.keys(one as object)).toEqual(names);
    expect(areApart(one, other)).toBe(true);
    expect(same(one, value)).toBe(true);
  });

  it('each own what is nested ten thousand deep', () => {
    const [open, close] = [`{"text":"${'x'.repeat(50)}","inner":`, '}'];
    const text = `${open.repeat(10_000)}[]${close.repeat(10_000)}`;
    const payload = new EncodedPayload('j', Buffer.from(text), undefined);
    const values = Array.from({ length: 4 }, () => payload.read(PLAIN));
    for (const value of values) expect(objectsIn(value).size).toBe(10_001);
    expect(areApart(values[2], values[3])).toBe(true);
  });

  it('each get what is theirs where the root prototype was added to', () => {
    const payload = encoded(roomy({ a: [1], at: new Date(5) }));
    const values: unknown[] = [];
    try {
      Object.assign(Object.prototype, { added: { deep: {} }, value: [] });
      for (let i = 0; i < 4; i++) values.push(payload.read(PLAIN));
    } finally {
      for (const name of ['added', 'value']) Reflect.deleteProperty(Object.prototype, name);
    }
    for (const value of values) expect(same(value, roomy({ a: [1], at: new Date(5) }))).toBe(true);
    expect(areApart(values[2], values[3])).toBe(true);
  });

  it('all get the error where the bytes are no value', () => {
    for (const [codec, text, message] of [
      ['j', '{', 'JSON'],
      ['j', '', 'JSON'],
      ['t', '"~?"', 'malformed'],
      ['x', '1', "no codec is called 'x'"],
    ] as const) {
      const payload = new EncodedPayload(codec, Buffer.from(text), undefined);
      for (let i = 0; i < 4; i++) expect(() => payload.read(PLAIN)).toThrow(message);
    }
    const broken = new EncodedPayload('j', Buffer.from([0x22, 0xff, 0x22]), undefined);
    for (let i = 0; i < 4; i++) expect(() => broken.read(PLAIN)).toThrow('UTF-8');
  });
});

describe('readers who want it otherwise', () => {
  const types = resolveTypes({ 'value.price': Money }, 'test');

  it('each get instances of the class they name, or none', () => {
    const payload = encodePayload(roomy({ price: new Money(5) }), { ...PLAIN, types });
    const wrong = resolveTypes({ 'value.price': Other }, 'test');
    for (let i = 0; i < 4; i++) {
      const read = payload.read({ ...PLAIN, types }) as ReturnType<typeof roomy<{ price: Money }>>;
      expect(read.value.price).toBeInstanceOf(Money);
      expect(read.value.price.amount).toBe(5);
      Object.assign(read.value.price, { amount: 6 });
      expect(() => payload.read({ ...PLAIN, types: wrong })).toThrow('Money');
      expect(() => payload.read(PLAIN)).toThrow('Money');
    }
  });

  it('get the same of what holds no instance, whatever they name', () => {
    const value = roomy({ price: { amount: 5 } });
    const payload = encoded(value);
    for (let i = 0; i < 4; i++) {
      for (const each of [types, undefined]) {
        const read = payload.read({ ...PLAIN, types: each });
        expect(same(read, value)).toBe(true);
        spoil(read);
      }
    }
  });

  it.each([0, 1, 2, 3])('share one frozen value, which is nobody’s copy, after %d reads', (reads) => {
    const value = roomy({ list: [1], at: new Date(5) });
    const payload = encoded(value);
    const before = Array.from({ length: reads }, () => payload.read(PLAIN));
    const frozen = payload.read(SHARED) as typeof value;
    expect(payload.read(SHARED)).toBe(frozen);
    expect(() => frozen.value.list.push(2)).toThrow(TypeError);
    expect(() => frozen.value.at.setTime(6)).toThrow(TypeError);
    const after = Array.from({ length: 4 }, () => payload.read(PLAIN) as typeof value);
    for (const own of [...before, ...after]) {
      expect(areApart(own, frozen)).toBe(true);
      expect(same(own, value)).toBe(true);
      spoil(own);
    }
    expect(frozen.value.list).toEqual([1]);
    expect(frozen.value.at.getTime()).toBe(5);
  });

  it('have a serializer’s own values, and no bytes of others', () => {
    const serializer = {
      name: 'own',
      encode: () => Buffer.from('[1]'),
      decode: (bytes: Buffer) => ({ bytes }),
    };
    const payload = encodePayload([1], { ...PLAIN, serializer });
    for (let i = 0; i < 4; i++) {
      const { bytes } = payload.read({ ...PLAIN, serializer }) as { bytes: Buffer };
      expect(bytes.toString()).toBe('[1]');
      bytes.fill(0);
      expect(() => payload.read(PLAIN)).toThrow('own');
    }
  });

  it('of another serializer have none of a kept value, and `undefined` where it is that', () => {
    const serializer = { name: 'own', encode: () => Buffer.alloc(0), decode: () => 'decoded' };
    const [value, nothing] = [encoded(roomy([1])), encoded(undefined)];
    for (let i = 0; i < 4; i++) {
      expect(() => value.read({ ...PLAIN, serializer })).toThrow('serializer');
      expect(same(value.read(PLAIN), roomy([1]))).toBe(true);
      expect(nothing.read({ ...PLAIN, serializer })).toBeUndefined();
      expect(nothing.read(PLAIN)).toBeUndefined();
    }
  });
});

describe('what a payload keeps', () => {
  const tiny: readonly [string, unknown][] = [
    ['empty lists', Array.from({ length: 50 }, () => [])],
    ['empty objects', Array.from({ length: 50 }, () => ({}))],
    ['numbers', Array.from({ length: 50 }, (_, i) => i)],
    ['dates', Array.from({ length: 50 }, (_, i) => new Date(i))],
    ['bigints', Array.from({ length: 50 }, (_, i) => BigInt(i))],
  ];
  const text = 'x'.repeat(500);
  const kept: readonly [string, unknown][] = [
    ['a text', text],
    [
      'rows',
      [
        { id: 1, text },
        { id: 2, text: `${text}.` },
      ],
    ],
    ['a row with a date', { text, at: new Date(5) }],
    ['undefined', undefined],
    ['null', null],
  ];

  it.each(kept)('is what its third reader needs no parsing for: %s', (_what, value) => {
    const payload = encoded(value);
    const toText = jest.spyOn(payload.bytes, 'toString');
    expect(parsings(payload, 5)).toEqual([1, 1, 0, 0, 0]);
    expect(toText).toHaveBeenCalledTimes(2);
  });

  it.each([...tiny, ['a Map', new Map([[text, text]])], ['a Buffer', Buffer.from(text)]] as typeof tiny)(
    'is the text alone where the value is none to copy, or takes too much: %s',
    (_what, value) => {
      const payload = encoded(value);
      const toText = jest.spyOn(payload.bytes, 'toString');
      expect(parsings(payload, 5)).toEqual([1, 1, 1, 1, 1]);
      expect(toText).toHaveBeenCalledTimes(2);
    },
  );

  it.each([...kept, ...tiny])('is nothing where nothing may be kept: %s', (_what, value) => {
    const { codec, bytes } = encoded(value);
    const toText = jest.spyOn(bytes, 'toString');
    expect(parsings(new EncodedPayload(codec, bytes, undefined, 0), 5)).toEqual([1, 1, 1, 1, 1]);
    expect(toText).toHaveBeenCalledTimes(5);
  });

  it('is measured by its bytes', () => {
    // Ten numbers by two bytes, 48 + 10 * (8 + 16) in memory, and what is missing to a third of it in a text.
    const numbers = Array.from({ length: 10 }, () => 1);
    const of = (length: number) => encoded([numbers, 'y'.repeat(length)]);
    const fits = (payload: EncodedPayload) => parsings(payload, 3)[2] === 0;
    const least = Array.from({ length: 500 }, (_, length) => length).find((length) => fits(of(length))) ?? 0;
    const memory = 48 + 2 * 8 + 48 + 10 * (8 + 16) + 16 + Math.ceil(least / 8) * 8;
    expect(MOST_KEPT * of(least).size).toBeGreaterThanOrEqual(memory);
    expect(MOST_KEPT * of(least - 1).size).toBeLessThan(memory);
  });
});
