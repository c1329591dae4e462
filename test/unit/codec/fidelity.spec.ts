import { randomBytes } from 'node:crypto';
import { types } from 'node:util';
import { runInNewContext } from 'node:vm';

import { decodeValue, encodeValue } from '../../../lib/core/codec/index.js';
import { sparse } from './fixtures.js';
import { same } from './same.js';

function roundTrip(value: unknown): unknown {
  const { codec, bytes } = encodeValue(value);
  return decodeValue(codec, bytes);
}

describe('what comes back', () => {
  it.each([[0], [false], [''], [Number.NaN], [null], [undefined], [-0]])(
    'is %p where that was stored',
    (value) => {
      expect(Object.is(roundTrip(value), value)).toBe(true);
    },
  );

  it('tells a missing property from an undefined one, and a hole from an undefined element', () => {
    expect(Object.keys(roundTrip({ a: undefined }) as object)).toEqual(['a']);
    expect(Object.keys(roundTrip([undefined, 1]) as object)).toEqual(['0', '1']);
    expect(Object.keys(roundTrip(sparse(2, { 1: 1 })) as object)).toEqual(['1']);
  });

  it('is a bigint of any size', () => {
    const limit = 10n ** 1_000n;
    for (const size of [0n, 1n, limit - 1n, limit, limit + 1n, 2n ** 100_000n]) {
      expect(roundTrip(size) === size).toBe(true);
      expect(roundTrip([-size])).toStrictEqual([-size]);
    }
  });

  it('is every kind of value at once', () => {
    const value = {
      d: new Date(0),
      m: new Map([[1, { x: new Date(1) }]]),
      s: new Set([1]),
      b: 10n,
      buf: Buffer.from([0, 255]),
      u: undefined,
      n: Number.NaN,
      z: -0,
      inf: Number.POSITIVE_INFINITY,
      arr: sparse(2, { 1: 1 }),
      u8: new Uint8Array([1]),
    };
    expect(roundTrip(value)).toStrictEqual(value);
  });

  it('is the same bytes, however many and whatever they are', () => {
    for (const size of [65_535, 65_536, 65_537, 1_000_000]) {
      const body = randomBytes(size);
      const read = roundTrip({ body }) as { body: Buffer };
      expect(read.body.equals(body)).toBe(true);
    }
  });

  it('is a Buffer where a Buffer was, and none where a Uint8Array was', () => {
    expect(Buffer.isBuffer(roundTrip(Buffer.from('a')))).toBe(true);
    expect(Buffer.isBuffer(roundTrip(new Uint8Array(1)))).toBe(false);
  });

  it('is a copy that shares nothing with what was stored', () => {
    const value = { list: [1], at: new Date(0), bytes: Buffer.from('a') };
    const { codec, bytes } = encodeValue(value);
    const first = decodeValue(codec, bytes) as typeof value;
    first.list.push(2);
    first.at.setTime(9);
    first.bytes[0] = 0;
    value.list.push(3);
    expect(decodeValue(codec, bytes)).toStrictEqual({ list: [1], at: new Date(0), bytes: Buffer.from('a') });
  });

  it('is a native error without the frames it was thrown from', () => {
    const error = roundTrip(new TypeError('boom')) as TypeError;
    expect(types.isNativeError(error)).toBe(true);
    expect(error).toBeInstanceOf(TypeError);
    expect(error.stack).toBe('TypeError: boom');
    expect(Object.keys(error)).toEqual([]);
  });

  it('is two copies where one object stood at two places', () => {
    const twin = { n: 1n };
    const [a, b] = roundTrip([twin, twin]) as [object, object];
    expect(a).toEqual(b);
    expect(a).not.toBe(b);
  });

  it('is what a getter said, as an ordinary property', () => {
    const value = { get total() { return 3n; } }; // prettier-ignore
    expect(Object.getOwnPropertyDescriptor(roundTrip(value), 'total')).toMatchObject({
      value: 3n,
      writable: true,
    });
  });

  it('is without the properties that are hidden, also those with a symbol as key', () => {
    const value = Object.defineProperties({ a: 1 }, { b: { value: 2 }, [Symbol('c')]: { value: 3 } });
    expect(same(roundTrip(value), { a: 1 })).toBe(true);
  });

  it('is what a proxy looks like', () => {
    expect(roundTrip(new Proxy({ a: [1n] }, {}))).toStrictEqual({ a: [1n] });
    expect(roundTrip(new Proxy([1, 2], {}))).toStrictEqual([1, 2]);
  });

  it('is of this realm where the value came from another', () => {
    const foreign: unknown = runInNewContext(
      `({ list: [1, , 3], at: new Date(5), map: new Map([[1, new Set([2])]]), re: /x/g, error: new RangeError('r'),
          floats: new Float32Array([1.5]), raw: new Uint8Array([7]).buffer })`,
    );
    expect(roundTrip(foreign)).toStrictEqual({
      list: sparse(3, { 0: 1, 2: 3 }),
      at: new Date(5),
      map: new Map([[1, new Set([2])]]),
      re: /x/g,
      error: new RangeError('r'),
      floats: new Float32Array([1.5]),
      raw: new Uint8Array([7]).buffer,
    });
  });

  it('keeps its dates under a mocked clock', () => {
    const before = new Date(1);
    jest.useFakeTimers({ now: 1000 });
    try {
      expect((roundTrip([before, new Date()]) as Date[]).map((date) => date.getTime())).toEqual([1, 1000]);
    } finally {
      jest.useRealTimers();
    }
  });
});
