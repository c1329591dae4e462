import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import {
  isDueEarly,
  drawLife,
  encodeHeader,
  freshness,
  isReadable,
  parseEntry,
  parseHeader,
  rejectedIdOf,
  type EntryHeader,
} from '../../../lib/core/entry/index.js';
import { resolvePolicy, type AnyPolicy } from '../../../lib/core/policy/index.js';

const policy = (given: object) => resolvePolicy({ ttl: '1m', ...given } as AnyPolicy, undefined, 'Shop.find');
const ID = 'abcdefghijklmnopqrstuv';
const header: EntryHeader = {
  kind: 'value',
  codec: 'j',
  softAt: 1_764_000_060_000,
  loadStart: 1_764_000_000_000,
  sourceVersion: 0,
  id: ID,
  size: 0,
  cost: 120,
  bornAt: 1_764_000_000_120,
  ttl: 60_000,
  hard: 360_000,
  epoch: 0,
  digest: 'AbCdEf12',
  tags: [],
};

describe('the wire format, version 2', () => {
  it('is this, byte for byte', () => {
    expect(encodeHeader(header).toString('latin1')).toBe(
      '2v-j17640000600001764000000000' + '0000000000000000' + ID + '0029' + '0,120,,60000,360000,,AbCdEf12',
    );
  });

  it('is this with everything in it', () => {
    const full: EntryHeader = {
      ...header,
      codec: 'x',
      sourceVersion: 42,
      bornAt: header.loadStart - 5,
      epoch: 1_763_000_000_000,
      serializer: 'msgpack, v2',
      tags: [
        { id: 'product:1', hard: 'mcv5kq1sabcdef', soft: '' },
        { id: '%20', hard: 'h', soft: 's' },
      ],
    };
    const block =
      '0,120,-5,60000,360000,1763000000000,AbCdEf12,msgpack%2C%20v2,product:1~mcv5kq1sabcdef~,%20~h~s';
    expect(encodeHeader(full).toString('latin1')).toBe(
      '2v-x17640000600001764000000000' + '0000000000000042' + ID + '0094' + block,
    );
    expect(parseHeader(encodeHeader(full))?.header).toEqual(full);
  });

  it.each([
    ['brotli', 'b'],
    ['gzip', 'g'],
    ['deflate', 'd'],
    ['zstd', 'z'],
  ] as const)('says at byte 2 that the payload is compressed by %s', (compression, letter) => {
    const written = { ...header, compression };
    expect(encodeHeader(written).toString('latin1', 0, 4)).toBe(`2v${letter}j`);
    expect(parseHeader(encodeHeader(written))?.header).toEqual(written);
  });

  it('takes any other compression for no entry', () => {
    const known = Array.from({ length: 256 }, (_, byte) => {
      const bytes = encodeHeader(header);
      bytes[2] = byte;
      return parseHeader(bytes) === undefined ? '' : String.fromCharCode(byte);
    });
    expect(known.join('')).toBe('-bdgz');
  });

  it('hands a compressed payload out as it lies there', () => {
    const key = { id: 'k', variant: '', digest: header.digest };
    const packed = { ...header, compression: 'gzip', size: 3 } as const;
    const entry = parseEntry(Buffer.concat([encodeHeader(packed), Buffer.from('abc')]), key);

    expect(entry && isReadable(entry)).toBe(false);
    expect(entry?.payload).toEqual({
      compression: 'gzip',
      codec: 'j',
      bytes: Buffer.from('abc'),
      serializer: undefined,
    });
  });

  it('takes an entry of version 1 for none', () => {
    const old =
      '1v-j17640000600001764000000000' + '0000000000000000' + ID + '025' + '120,60000,360000,AbCdEf12{}';
    expect(parseHeader(Buffer.from(old))).toBeUndefined();
  });

  it('adds at most 104 bytes to the payload of an ordinary entry', () => {
    expect(encodeHeader(header).length).toBeLessThanOrEqual(104);
  });

  const tokens = (minLength: number, maxLength: number) =>
    fc.string({ unit: fc.constantFrom('a', 'Z', '0', '-', '_'), minLength, maxLength });
  const headers = fc.record({
    kind: fc.constantFrom('value' as const, 'negative' as const, 'error' as const),
    softAt: fc.integer({ min: 0, max: 9_999_999_999_999 }),
    loadStart: fc.integer({ min: 0, max: 9_999_999_999_999 }),
    sourceVersion: fc.nat(),
    id: fc.string({
      unit: fc.constantFrom('a', 'b', 'X', 'Z', '0', '9', '-', '_'),
      minLength: 22,
      maxLength: 22,
    }),
    cost: fc.nat(),
    bornAt: fc.integer({ min: 0, max: 9_999_999_999_999 }),
    epoch: fc.integer({ min: 0, max: 9_999_999_999_999 }),
    tags: fc.array(fc.record({ id: tokens(1, 20), hard: tokens(1, 24), soft: tokens(0, 24) }), {
      maxLength: 16,
    }),
    ttl: fc.nat(),
    hard: fc.nat(),
    digest: fc.string({
      unit: fc.constantFrom('a', 'b', 'X', 'Z', '0', '9', '-', '_'),
      minLength: 8,
      maxLength: 8,
    }),
    compression: fc.constantFrom(
      undefined,
      'brotli' as const,
      'gzip' as const,
      'deflate' as const,
      'zstd' as const,
    ),
  });
  const codecs = fc.oneof(
    fc.constantFrom({ codec: 'j' as const }, { codec: 't' as const }),
    fc
      .string({ minLength: 1, maxLength: 30, unit: 'grapheme' })

      .map((serializer) => ({ codec: 'x' as const, serializer })),
  );

  it('comes back as it was written', () => {
    const roundTrip = fc.property(headers, codecs, (fields, codec) => {
      const written = { ...fields, ...codec, size: 7 };
      const bytes = encodeHeader(written);
      const parsed = parseHeader(Buffer.concat([bytes, Buffer.from('payload')]));

      expect(parsed).toEqual({ header: written, headLength: bytes.length });
    });
    fc.assert(roundTrip);
  });

  it('takes any other bytes for no entry, without an error', () => {
    const harmless = fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(parseHeader(Buffer.from(bytes))).toBeUndefined();
    });
    fc.assert(harmless);
  });

  it('takes a cut entry for none, and a changed one for none or for one with other fields', () => {
    const sized = { ...header, size: 2 };
    const full = Buffer.concat([encodeHeader(sized), Buffer.from('{}')]);
    const genuine = parseHeader(full)?.header;
    const harmless = fc.property(
      fc.nat({ max: encodeHeader(header).length - 1 }),
      fc.nat({ max: 255 }),
      (at, byte) => {
        expect(parseHeader(full.subarray(0, at))).toBeUndefined();
        const changed = Buffer.from(full);
        changed[at] = byte;
        const parsed = parseHeader(changed);
        expect(byte !== full[at] && isDeepStrictEqual(parsed?.header, genuine)).toBe(false);
      },
    );
    fc.assert(harmless);
  });

  it('is a miss in another version, for another key, or cut short; its id is what gets replaced', () => {
    const key = { id: 'k', variant: '', digest: header.digest };
    const sized = { ...header, size: 1 };
    const bytes = Buffer.concat([encodeHeader(sized), Buffer.from('1')]);
    const other = Buffer.from(bytes);
    other[0] = 0x33;

    expect(parseEntry(bytes, key)?.header).toEqual(sized);
    expect(parseEntry(other, key)).toBeUndefined();
    expect(parseEntry(bytes, { ...key, digest: 'other678' })).toBeUndefined();
    expect(parseEntry(Buffer.from('short'), key)).toBeUndefined();
    expect(parseEntry(null, key)).toBeUndefined();
    expect(parseEntry(bytes.subarray(0, -1), key)).toBeUndefined();
    expect(parseEntry(Buffer.concat([bytes, Buffer.from('2')]), key)).toBeUndefined();
    expect(rejectedIdOf(bytes)).toBe(ID);
    expect(rejectedIdOf(Buffer.from('short'))).toBe('');
  });
});

describe('freshness', () => {
  const windows = { stale: 100, staleIfError: 300 };
  const at = (past: number) => freshness({ softAt: 1_000, kind: 'value' }, 1_000 + past, windows);

  it('changes at each boundary, which belongs to the next state', () => {
    expect([-1, 0, 99, 100, 299, 300].map(at)).toEqual([
      'fresh',
      'stale',
      'stale',
      'failsafe',
      'failsafe',
      'expired',
    ]);
  });

  it('knows no stale window for negatives', () => {
    expect(freshness({ softAt: 1_000, kind: 'negative' }, 1_000, windows)).toBe('expired');
    expect(freshness({ softAt: 1_000, kind: 'error' }, 999, windows)).toBe('fresh');
  });
});

describe('jitter', () => {
  it('shortens by nothing at a draw of 0 and by the whole share at 1', () => {
    expect(drawLife('value', 60_000, policy({ stale: '1m' }), 0)).toEqual({ ttl: 60_000, hard: 120_000 });
    expect(drawLife('value', 60_000, policy({ stale: '1m' }), 1)).toEqual({ ttl: 54_000, hard: 114_000 });
    expect(drawLife('value', 60_000, policy({ jitter: 0 }), 1)).toEqual({ ttl: 60_000, hard: 60_000 });
    expect(drawLife('value', 60_000, policy({ jitter: 1 }), 1)).toEqual({ ttl: 1, hard: 1 });
  });

  it('by a Duration shortens by up to that, never below 1 ms', () => {
    expect(drawLife('value', 60_000, policy({ jitter: '5s' }), 1)?.ttl).toBe(55_000);
    expect(drawLife('value', 1_000, policy({ ttl: '1s', jitter: '5s' }), 1)?.ttl).toBe(1);
  });

  it('applies to negatives, which live for negativeTtl at most and have no stale window', () => {
    expect(drawLife('negative', 60_000, policy({ stale: '1m' }), 0)).toEqual({ ttl: 10_000, hard: 10_000 });
    expect(drawLife('error', 60_000, policy({}), 1)).toEqual({ ttl: 9_000, hard: 9_000 });
    expect(drawLife('negative', 3_000, policy({}), 0)?.ttl).toBe(3_000);
  });

  it('draws no life from 0 or less', () => {
    expect(drawLife('value', 0, policy({}), 0)).toBeUndefined();
    expect(drawLife('value', -5, policy({}), 0)).toBeUndefined();
    expect(drawLife('negative', 60_000, policy({ negativeTtl: 0 }), 0)).toBeUndefined();
  });
});

describe('early refresh', () => {
  const entry = { kind: 'value', softAt: 10_000, cost: 100, ttl: 8_000 } as const;
  const due = (left: number, early: object | undefined, random: number) =>
    isDueEarly(entry, entry.softAt - left, early as never, () => random);

  it('is due when cost x beta x -ln(random) reaches the expiry (XFetch)', () => {
    const atOne = Math.exp(-1); // -ln = 1: a lead of one load
    expect(due(100, { beta: 1 }, atOne)).toBe(true);
    expect(due(101, { beta: 1 }, atOne)).toBe(false);
    expect(due(200, { beta: 2 }, atOne)).toBe(true);
  });

  it('is capped at a quarter of the ttl, also for a draw of 0', () => {
    expect(due(2_000, { beta: 100 }, 0)).toBe(true);
    expect(due(2_001, { beta: 100 }, 0)).toBe(false);
  });

  it('is never due for a draw of just under 1, when off, or for a negative', () => {
    expect(due(1, { beta: 1 }, 0.999999)).toBe(false);
    expect(due(1, undefined, 0)).toBe(false);
    expect(isDueEarly({ ...entry, kind: 'negative' }, 9_999, { beta: 1 }, () => 0)).toBe(false);
  });

  it('with a window grows linearly over the last stretch', () => {
    expect(due(1_001, { window: 1_000 }, 0.999)).toBe(false);
    expect(due(500, { window: 1_000 }, 0.49)).toBe(false);
    expect(due(500, { window: 1_000 }, 0.51)).toBe(true);
    expect(due(1, { window: 1_000 }, 0.01)).toBe(true);
  });
});
