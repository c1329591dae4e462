import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';

import { encodeValue, resolveTypes, UncacheableValue, type TypeMap } from '../../../lib/core/codec/index.js';

function refusal(value: unknown, types?: TypeMap): UncacheableValue {
  try {
    encodeValue(value, types);
  } catch (error) {
    if (error instanceof UncacheableValue) return error;
    throw error;
  }
  throw new Error('it was stored');
}

class Booking {
  readonly id = 1;
}

class Account {
  readonly #secret = 's';
  readonly id = 1;

  reveal(): string {
    return this.#secret;
  }
}

class Tagged extends Map {}
class NotFound extends Error {}

function circular(): object {
  const order: Record<string, unknown> = { items: [{ id: 1 }] };
  (order['items'] as Record<string, unknown>[])[0]!['order'] = order;
  return order;
}

function nested(levels: number): unknown {
  let value: unknown = 0;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

describe('a value that would not come back as it is', () => {
  it.each([
    ['an instance', { items: [{}, { price: new Booking() }] }, 'items[1].price', 'an instance of Booking'],
    [
      'an instance of a subclass of Map',
      { m: new Tagged() },
      'm',
      'an instance of Tagged, a subclass of Map',
    ],
    ['an instance of an Error class', [new NotFound('x')], '[0]', 'an instance of NotFound'],
    [
      'a circular value',
      circular(),
      'items[0].order',
      'one of the objects that contain it (a circular value)',
    ],
    ['a function', { a: { run: () => 1 } }, 'a.run', 'a function'],
    ['a function toJSON', { toJSON: () => 1 }, 'toJSON', 'a function'],
    ['a symbol', new Map([['k', Symbol('s')]]), '.values()[0]', 'a symbol'],
    ['a symbol as key', { a: [{ [Symbol('s')]: 1 }] }, 'a[0]', 'an object with a symbol as a property key'],
    [
      'a symbol as key of an array',
      { a: Object.assign([1], { [Symbol('s')]: 1 }) },
      'a',
      'an object with a symbol as a property key',
    ],
    ['a promise', new Map([[{ p: Promise.resolve(1) }, 1]]), '.keys()[0].p', 'a promise'],
    ['a stream', { body: Readable.from([]) }, 'body', 'a stream'],
    ['a web stream', { body: new ReadableStream() }, 'body', 'a stream'],
    ['an event emitter', new Set([new EventEmitter()]), '.values()[0]', 'an event emitter'],
    [
      'a WeakMap',
      { 'two words': new WeakMap() },
      '["two words"]',
      'a WeakMap, or an object made to look like one',
    ],
    ['a boxed string', [Object('s')], '[0]', 'a String, or an object made to look like one'],
    [
      'a bare object on the prototype of Date',
      Object.create(Date.prototype),
      '',
      'a Date, or an object made to look like one',
    ],
    ['an object that inherits', Object.create({ a: 1 }), '', 'an object that inherits from another object'],
    [
      'a Map with a property',
      { m: Object.assign(new Map(), { a: 1 }) },
      'm',
      'a built-in object with properties of its own',
    ],
    [
      'a Date with a property',
      Object.assign(new Date(0), { a: 1 }),
      '',
      'a built-in object with properties of its own',
    ],
    ['shared memory', { v: new Uint8Array(new SharedArrayBuffer(1)) }, 'v', 'a view of shared memory'],
    [
      'a broken lastIndex',
      [Object.assign(/x/g, { lastIndex: 0.5 })],
      '[0]',
      'a RegExp whose lastIndex is no whole number',
    ],
  ])('is refused with its path: %s', (_kind, value, path, what) => {
    expect(refusal(value)).toMatchObject({ path, what, fix: expect.any(String) });
  });

  it('is refused in words a reader can act on', () => {
    expect(refusal({ items: [{ price: new Booking() }] }).message).toBe(
      "items[0].price is an instance of Booking: name the class in the policy (type: { 'items[].price': Booking }), " +
        'or return a plain object',
    );
    expect(refusal(() => 1).message).toMatch(/^the value itself is a function: /);
  });

  it('is refused where the class has #private members, whatever type says', () => {
    const error = refusal([new Account()], resolveTypes(Account, 'test'));
    expect(error).toMatchObject({
      path: '[0]',
      what: 'an instance of Account with #private members in Account',
    });
  });

  it('is refused with what a getter threw', () => {
    const boom = new Error('boom');
    const value = { a: [{ get total(): number { throw boom; } }] }; // prettier-ignore
    expect(refusal(value)).toMatchObject({ path: 'a[0].total', what: 'not readable', cause: boom });
  });

  it('is refused beyond 500 levels, however many there are', () => {
    expect(() => encodeValue(nested(500))).not.toThrow();
    expect(refusal(nested(501)).what).toBe('nested too deep');
    expect(refusal(nested(10_000)).what).toBe('nested too deep');
    expect(refusal([0n, nested(100_000)]).what).toBe('nested too deep');
  });

  it('is refused at once where a cycle stands behind a lot of data', () => {
    let reads = 0;
    const value: Record<string, unknown> = { get data() { return (reads += 1); } }; // prettier-ignore
    value['self'] = value;
    expect(refusal(value).path).toBe('self');
    expect(reads).toBeLessThanOrEqual(2);
  });

  it.each([[Object.prototype], [Array.prototype]])(
    'is anything at all while %p has a toJSON',
    (prototype) => {
      Object.defineProperty(prototype, 'toJSON', { value: () => 'x', configurable: true });
      try {
        expect(refusal({ a: 1 }).what).toBe('not safe from toJSON');
      } finally {
        delete (prototype as { toJSON?: unknown }).toJSON;
      }
    },
  );
});
