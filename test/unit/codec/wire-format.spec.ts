import { isDeepStrictEqual } from 'node:util';

import { decodeValue, encodeValue } from '../../../lib/core/codec/index.js';
import { FIXTURES } from './fixtures.js';
import { same } from './same.js';

describe('the wire format', () => {
  it.each(FIXTURES)('writes $kind as it was first written', ({ value, codec, text, types }) => {
    const encoded = encodeValue(value, types);
    expect(encoded.bytes.toString()).toBe(text);
    expect(encoded.codec).toBe(codec);
  });

  it.each(FIXTURES)('reads $kind as it was first written', ({ kind, value, codec, text, types }) => {
    const read = decodeValue(codec, Buffer.from(text), types);
    expect(same(read, value)).toBe(true);
    // On Node.js 20 no invalid date equals another.
    expect(kind === 'an invalid Date' || isDeepStrictEqual(read, value)).toBe(true);
  });

  it('has no two kinds of value written alike', () => {
    const texts = FIXTURES.map(({ value, types }) => {
      const { codec, bytes } = encodeValue(value, types);
      return `${codec}${bytes.toString()}`;
    });
    expect(new Set(texts).size).toBe(FIXTURES.length);
  });
});
