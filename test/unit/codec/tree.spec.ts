import fc from 'fast-check';

import { copyTree, decodeValue, encodeValue, isTree } from '../../../lib/core/codec/index.js';
import { anyValue, jsonValue, treeValue } from './arbitraries.js';
import { areApart, spoil, written } from './readers.js';
import { same } from './same.js';

const ANY = Number.POSITIVE_INFINITY;

/** Equal to the last, the order of properties too, and what its owner does never reaches the other's. */
function expectTrueCopy(value: unknown): void {
  const untouched = written(value);
  const copy = copyTree(value);
  expect(same(copy, value)).toBe(true);
  expect(written(copy)).toBe(untouched);
  expect(areApart(copy, value)).toBe(true);
  spoil(copy);
  expect(written(value)).toBe(untouched);
}

function nested(depth: number): object {
  let value: object = {};
  for (let i = 1; i < depth; i++) value = i % 2 === 0 ? { inner: value } : [value];
  return value;
}

/** `count` names that are no index, in an order of their own. */
function wide(count: number): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${(i * 7_919) % count}`, { i }]));
}

/** The least of `maxBytes` for which it is a tree. */
function sizeOf(value: unknown): number {
  for (let size = 0; size < 1_000; size++) if (isTree(value, size)) return size;
  throw new Error('it takes more than a thousand bytes');
}

class Money {
  amount = 1;
}

class Stamp extends Date {}

class List extends Array<unknown> {}

describe('a copy of a tree', () => {
  it('is equal, and owned by who gets it, whatever the tree', () => {
    fc.assert(
      fc.property(treeValue, (value) => {
        expect(isTree(value, ANY)).toBe(true);
        expectTrueCopy(value);
      }),
      { numRuns: 600 },
    );
  });

  it('is so for whatever the codec reads and calls a tree', () => {
    fc.assert(
      fc.property(fc.oneof(anyValue, jsonValue, treeValue), (value) => {
        const { codec, bytes } = encodeValue(value);
        const read = decodeValue(codec, bytes);
        if (isTree(read, ANY)) expectTrueCopy(read);
      }),
      { numRuns: 600 },
    );
  });

  it.each<[string, unknown]>([
    ['an empty object', {}],
    ['an empty array', []],
    ['empty ones within', { list: [[], {}], object: { none: {} } }],
    ['a date', new Date(1_700_000_000_000)],
    ['an invalid date', { at: new Date(Number.NaN) }],
    ['the date 0', [new Date(0)]],
    ['undefined members', { a: undefined, list: [undefined, 1], b: 1 }],
    ['numbers JSON has no text for', [-0, Number.NaN, Infinity, -Infinity, { zero: -0 }]],
    ['bigints', { small: 1n, large: 7n ** 500n, negative: -1n }],
    ['names in an order of their own', { b: [1], a: [2], c: [{ z: 1, y: { x: 1 } }] }],
    ['names that are an index', { b: [1], 10: [2], 2: { 7: [3], 1: [4] }, '-1': [5], '01': [6] }],
    ['names of what objects have', JSON.parse('{"constructor":{"a":1},"hasOwnProperty":[1],"toString":{}}')],
    ['own names __proto__', JSON.parse('{"__proto__":{"a":{"__proto__":[1]}},"b":{"__proto__":null}}')],
    ['5,000 names', wide(5_000)],
    ['5,000 elements', Array.from({ length: 5_000 }, (_, i) => [i])],
    ['as deep as it gets', nested(100)],
  ])('holds %s', (_what, value) => {
    expect(isTree(value, ANY)).toBe(true);
    expectTrueCopy(value);
  });

  it('of what is no object is the same', () => {
    for (const value of [undefined, null, true, 0, -0, Number.NaN, 'text', 1n]) {
      expect(isTree(value, ANY)).toBe(true);
      expect(copyTree(value)).toBe(value);
    }
  });

  it('takes nothing from a root prototype that was added to', () => {
    const value = { own: { a: [1] }, at: new Date(5) };
    let copy: typeof value;
    let inherited: { added: object };
    try {
      Object.assign(Object.prototype, { added: { deep: {} }, own: { not: 'this' } });
      inherited = {} as { added: object };
      expect(isTree(value, ANY)).toBe(true);
      copy = copyTree(value);
      expect(copy.own).not.toBe(value.own);
      expect(inherited.added).toBe((copy as unknown as typeof inherited).added);
    } finally {
      for (const name of ['added', 'own']) Reflect.deleteProperty(Object.prototype, name);
    }
    expect(Object.keys(copy)).toEqual(['own', 'at']);
    expect(same(copy, value)).toBe(true);
  });
});

describe('no tree', () => {
  const shared = { a: 1 };
  const circular: Record<string, unknown> = {};
  circular['self'] = { circular };
  const holed: unknown[] = [1, 2];
  holed[3] = 4;
  const balanced: unknown[] = Object.assign([1, 2, 3], { more: 1 });
  Reflect.deleteProperty(balanced, 1);

  it.each<[string, unknown]>([
    ['what stands in two places', { a: shared, b: [shared] }],
    ['one date in two places', [holed.slice(0, 0), ...Array<Date>(2).fill(new Date(0))]],
    ['what contains itself', circular],
    ['an array with a hole', holed],
    ['an array with a hole at its end', Object.assign([1], { length: 2 })],
    ['an array of holes', Array(3)],
    ['an array with a property of its own', Object.assign([1], { more: 1 })],
    ['an array with as many properties as holes', balanced],
    ['a date with a property of its own', Object.assign(new Date(0), { more: 1 })],
    ['an object without a prototype', Object.create(null)],
    ['an object that inherits', Object.create({ a: 1 })],
    ['an instance', new Money()],
    ['an instance of a kind of Date', new Stamp(0)],
    ['an instance of a kind of Array', List.from([1])],
    ['an array without its prototype', Object.setPrototypeOf([1], Object.prototype) as object],
    ['what only looks like an array', Object.create(Array.prototype, { length: { value: 0 } })],
    ['what only looks like a date', Object.create(Date.prototype)],
    ['a Map', new Map([[1, 2]])],
    ['a Set', new Set([1])],
    ['a RegExp', /a/g],
    ['an error', new Error('e')],
    ['a URL', new URL('http://a/')],
    ['URLSearchParams', new URLSearchParams('a=1')],
    ['a Buffer', Buffer.from('a')],
    ['an empty Buffer', Buffer.alloc(0)],
    ['a typed array', new Float64Array(1)],
    ['an ArrayBuffer', new ArrayBuffer(1)],
    ['a function', () => 1],
    ['a symbol', Symbol('a')],
    ['an object with a symbol as a name', { [Symbol('a')]: 1 }],
    ['an object with a getter', { get a() { return 1; } }], // prettier-ignore
    ['an object with a hidden property', Object.defineProperty({}, 'a', { value: 1, writable: true })],
    ['an object with a property that is read-only', Object.freeze({ a: 1 })],
    ['an object nested too deep', nested(101)],
    ['one nested ten thousand deep', nested(10_000)],
  ])('is %s', (_what, value) => {
    expect(isTree(value, ANY)).toBe(false);
    expect(isTree({ in: [value] }, ANY)).toBe(false);
  });

  // By its keys, of which a Buffer has as many as bytes, either would take seconds.
  it.each<[string, unknown]>([
    ['a Buffer', Buffer.alloc(8_000_000)],
    ['a list of what takes more than its text', Array<number>(4_000_000).fill(1)],
  ])('is found out at once in %s of 8 MB', (_what, value) => {
    const ownKeys = jest.spyOn(Reflect, 'ownKeys');
    const isOne = isTree([value], 24_000_000);
    const asked = ownKeys.mock.calls.length;
    ownKeys.mockRestore();
    expect([isOne, asked]).toEqual([false, 0]);
  });
});

describe('what a tree takes', () => {
  /** In bytes of V8, measured: see core/kept-memory.slow.spec.ts. */
  it.each<[string, unknown, number]>([
    ['nothing of its own', [undefined, null, true, false], 48 + 4 * 8],
    ['an empty array', [], 48],
    ['an empty object', {}, 24 + 4 * 8],
    ['an object', { a: true, b: true }, 24 + 2 * 8],
    [
      'an object of many names',
      Object.fromEntries(Array.from('abcdefgh', (name) => [name, true])),
      24 + 8 * 8,
    ],
    ['a date', new Date(0), 112],
    ['a number', 1, 16],
    ['a bigint', 1n, 24],
    ['a negative bigint', -1n, 24],
    ['a bigint of 640 bits', 2n ** 640n - 1n, 16 + 80],
    ['an empty text', '', 16],
    ['a text', 'x'.repeat(24), 16 + 24],
    ['a text that fills no word', 'x'.repeat(25), 16 + 32],
    ['a text of Latin letters', 'é'.repeat(24), 16 + 24],
    ['a text with one letter of another script', `${'x'.repeat(23)}я`, 16 + 48],
    ['all together', { list: [{ n: 1 }, 'abc'] }, 24 + 8 + (48 + 2 * 8) + (24 + 8 + 16) + 24],
  ])('is counted: %s', (_what, value, size) => {
    expect(sizeOf(value)).toBe(size);
  });

  it('counts names beyond those of a record, each once', () => {
    const names = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`name${i}`, true]));
    const rows = (count: number) => ({ rows: [names(count), names(count)] });
    const without = (count: number) => 24 + 8 + 48 + 2 * 8 + 2 * (24 + count * 8);
    expect(sizeOf(names(32))).toBe(24 + 32 * 8);
    expect(sizeOf(names(33))).toBe(24 + 33 * 8 + 136 + 8);
    expect(sizeOf(rows(31)) - without(31)).toBe(0);
    // With that of the rows 34.
    expect(sizeOf(rows(33)) - without(33)).toBe(2 * (136 + 8));
    expect(isTree(names(500), 500 * 136)).toBe(false);
  });

  it.each<[string, unknown]>([
    ['empty arrays', Array.from({ length: 100 }, () => [])],
    ['empty objects', Array.from({ length: 100 }, () => ({}))],
    ['numbers', Array.from({ length: 100 }, (_, i) => i)],
    ['short texts', Array.from({ length: 100 }, () => 'ab')],
    ['bigints', Array.from({ length: 100 }, (_, i) => BigInt(i))],
    ['dates', Array.from({ length: 100 }, (_, i) => new Date(i))],
    ['numbers by id', Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`id${i}`, 1]))],
  ])('is more than three times the bytes for %s', (_what, value) => {
    expect(isTree(value, ANY)).toBe(true);
    expect(isTree(value, 3 * encodeValue(value).bytes.length)).toBe(false);
  });

  it('is less for what values usually are', () => {
    const row = {
      id: 7,
      name: 'A name of some words',
      price: 9.5,
      tags: ['new'],
      at: '2026-01-05T10:20:30.000Z',
    };
    for (const value of [row, [row, { ...row, tags: ['sale'] }], 'A line of text']) {
      expect(isTree(value, 3 * encodeValue(value).bytes.length)).toBe(true);
    }
  });
});
