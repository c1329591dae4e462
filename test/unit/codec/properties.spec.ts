import fc from 'fast-check';

import { DecodeError, decodeValue, encodeValue } from '../../../lib/core/codec/index.js';
import { anyValue, jsonValue } from './arbitraries.js';
import { same } from './same.js';

const ROOT_NAMES = Reflect.ownKeys(Object.prototype).length;
const ARRAY_NAMES = Reflect.ownKeys(Array.prototype).length;

function expectOnlyDecodeError(codec: string, bytes: Buffer): void {
  let failure: unknown;
  try {
    decodeValue(codec, bytes);
  } catch (error) {
    failure = error;
  }
  expect(failure === undefined || failure instanceof DecodeError).toBe(true);
  expect(Reflect.ownKeys(Object.prototype)).toHaveLength(ROOT_NAMES);
  expect(Reflect.ownKeys(Array.prototype)).toHaveLength(ARRAY_NAMES);
}

describe('the codec, whatever the value', () => {
  it('gives back an equal value of the same types', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const { codec, bytes } = encodeValue(value);
        return same(decodeValue(codec, bytes), value);
      }),
      { numRuns: 600 },
    );
  });

  it('writes the same bytes again for what it read', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const { codec, bytes } = encodeValue(value);
        expect(encodeValue(decodeValue(codec, bytes))).toEqual({ codec, bytes });
      }),
      { numRuns: 150 },
    );
  });

  it('never writes two different values alike', () => {
    fc.assert(
      fc.property(anyValue, anyValue, (a, b) => {
        const [encodedA, encodedB] = [encodeValue(a), encodeValue(b)];
        const alike = encodedA.codec === encodedB.codec && encodedA.bytes.equals(encodedB.bytes);
        expect(alike).toBe(same(a, b));
      }),
      { numRuns: 500 },
    );
  });

  it('writes what JSON keeps as the plain JSON text', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = JSON.stringify(value);
        fc.pre(same(JSON.parse(text), value));
        expect(encodeValue(value)).toEqual({ codec: 'j', bytes: Buffer.from(text) });
      }),
      { numRuns: 500 },
    );
  });

  it('reads any bytes at all without another error than DecodeError and without touching a prototype', () => {
    fc.assert(
      fc.property(fc.constantFrom('j', 't', 'x'), fc.uint8Array(), (codec, bytes) => {
        expectOnlyDecodeError(codec, Buffer.from(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('reads mutated bytes likewise', () => {
    const changes = fc.array(
      fc.tuple(fc.nat(), fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0x7e, 0x23, 0x5b, 0x22))),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    fc.assert(
      fc.property(anyValue, changes, (value, edits) => {
        const { bytes } = encodeValue(value);
        for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
        expectOnlyDecodeError('t', bytes);
        expectOnlyDecodeError('t', bytes.subarray(0, -1));
      }),
      { numRuns: 500 },
    );
  });

  it('reads any JSON as typed JSON likewise, also with marks in all places', () => {
    const marks = fc.constantFrom(
      ...[
        '~#Map',
        '~#Set',
        '~#RegExp',
        '~#URLSearchParams',
        '~#Uint8Array',
        '~#Float64Array',
        '~#DataView',
        '~#Array',
      ],
      ...[
        '~#null',
        '~#Error',
        '~#class',
        '~#class-error',
        '~#Nope',
        '~u',
        '~b1',
        '~bx',
        '~d',
        '~d1e99',
        '~B=',
        '~U',
        '~',
      ],
    );
    const tree = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        fc.oneof(marks, fc.string(), fc.integer(), fc.constantFrom(null, true, 'Error', 'TypeError', 'AA==')),
        fc.array(tie('node'), { maxLength: 4 }),
        fc.tuple(marks, fc.array(tie('node'), { maxLength: 4 })).map(([mark, rest]) => [mark, ...rest]),
        fc.dictionary(
          fc.constantFrom('a', '0', 'length', 'message', 'cause', 'constructor', '__proto__'),
          tie('node'),
        ),
      ),
    }))['node'];
    fc.assert(
      fc.property(tree, (value) => expectOnlyDecodeError('t', Buffer.from(JSON.stringify(value)))),
      { numRuns: 1000 },
    );
  });
});
