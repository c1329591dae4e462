import { randomBytes } from 'node:crypto';
import * as zlib from 'node:zlib';
import { Advice } from '../../../lib/core/advice.js';
import { COMPRESSIONS, decompress, type Compression } from '../../../lib/core/codec/index.js';
import { Packing, type PayloadAtRest } from '../../../lib/core/entry/index.js';
import { LATE } from '../../../lib/core/lane.js';
import { resolvePolicy, type AnyPolicy } from '../../../lib/core/policy/index.js';
import { createFakeRuntime, type FakeRuntime } from '../../support/fake-runtime.js';

const MOST = 1_000_000;
const TEXT = Buffer.from(
  JSON.stringify(Array.from({ length: 1_000 }, (_, id) => ({ id, name: `row ${id}` }))),
);

const policyOf = (compress: unknown) =>
  resolvePolicy({ ttl: '1m', compress } as AnyPolicy, undefined, 'Shop.find');

describe('packing', () => {
  let fake: FakeRuntime;
  let packing: Packing;
  beforeEach(() => {
    fake = createFakeRuntime();
    packing = new Packing(fake.runtime.timers, new Advice(fake.runtime), MOST);
  });
  afterEach(() => {
    const { foreground, background } = fake.pending();
    if (foreground + background > 0) throw new Error('a timer was left armed');
  });

  const pack = (compress: unknown, bytes = TEXT, ms = 1_000): Promise<PayloadAtRest> =>
    packing.pack(bytes, policyOf(compress), ms);
  const unpack = (compression: Compression, bytes: Buffer) =>
    packing.unpack({ compression, bytes, codec: 'j', serializer: undefined });

  it.each([
    [undefined, 100_000, false],
    [false, 100_000, false],
    [true, 16 * 1_024, true],
    [true, 16 * 1_024 - 1, false],
    [{}, 16 * 1_024, true],
    [{ threshold: 100 }, 100, true],
    [{ threshold: '1kb' }, 1_023, false],
    [{ threshold: '1kb' }, 1_024, true],
  ])('compress: %j wants %i bytes packed: %s', (compress, size, expected) => {
    expect(packing.wants(policyOf(compress), Buffer.alloc(size))).toBe(expected);
  });

  it.each(COMPRESSIONS)('packs and unpacks by %s', async (algorithm) => {
    const { compression, bytes } = await pack({ algorithm });
    expect(compression).toBe(algorithm);
    expect(bytes.length).toBeLessThan(TEXT.length / 2);
    expect(await unpack(algorithm, bytes)).toEqual(TEXT);
  });

  it('packs by brotli unless told otherwise', async () => {
    const { compression, bytes } = await pack(true);
    expect(compression).toBe('brotli');
    expect(await decompress('brotli', bytes, MOST)).toEqual(TEXT);
  });

  it.each([
    ['noise', randomBytes(50_000)],
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.from('1')],
  ])('leaves as it is what does not become smaller by a tenth: %s', async (_, bytes) => {
    expect(await pack({ threshold: 0 }, bytes)).toEqual({ compression: undefined, bytes });
    expect(fake.logs).toEqual([]);
  });

  it('packs what becomes smaller by a little more than a tenth', async () => {
    const bytes = Buffer.concat([randomBytes(85_000), Buffer.alloc(15_000)]);
    expect((await pack(true, bytes)).compression).toBe('brotli');
    const less = Buffer.concat([randomBytes(92_000), Buffer.alloc(8_000)]);
    expect((await pack(true, less)).compression).toBeUndefined();
  });

  it('leaves it as it is, and says so, where it takes too long', async () => {
    const large = Buffer.alloc(1_000_000, TEXT);
    // Two at once: however fast this machine is, the last is not begun when its time is over.
    const packed = Array.from({ length: 50 }, () => pack(true, large, 10));
    await fake.advance(11);
    expect(await packed.at(-1)).toEqual({ compression: undefined, bytes: large });
    expect((await packed.at(-1))?.bytes).toBe(large);
    await Promise.all(packed);
    expect(fake.logs.map(({ message }) => message)).toEqual([
      'Compressing a value took longer than 10 ms. It is stored as it is.',
    ]);
  });

  it('leaves it as it is where Node.js refuses', async () => {
    // What no types allow: an algorithm that is nowhere.
    const policy = { compress: { threshold: 0, algorithm: 'lzma' as Compression } };
    expect(await packing.pack(TEXT, policy, 1_000)).toEqual({ compression: undefined, bytes: TEXT });
    expect(fake.logs[0]?.message).toContain('It is stored as it is.');
  });

  it.each<[string, Compression, Buffer]>([
    ['noise', 'gzip', randomBytes(1_000)],
    ['noise', 'brotli', randomBytes(1_000)],
    ['a whole stream of nothing before noise', 'brotli', Buffer.concat([Buffer.of(6), randomBytes(1_000)])],
    ['a stream and what follows it', 'brotli', Buffer.concat([zlib.brotliCompressSync(TEXT), TEXT])],
    ['a stream and what follows it', 'deflate', Buffer.concat([zlib.deflateSync(TEXT), TEXT])],
    ['a stream and zeros', 'gzip', Buffer.concat([zlib.gzipSync(TEXT), Buffer.alloc(5)])],
    ['plain JSON', 'deflate', TEXT],
    ['another algorithm', 'brotli', zlib.gzipSync(TEXT)],
    ['half of it', 'gzip', zlib.gzipSync(TEXT).subarray(0, 500)],
    ['a bomb', 'gzip', zlib.gzipSync(Buffer.alloc(MOST + 1))],
    ['a bomb', 'brotli', zlib.brotliCompressSync(Buffer.alloc(MOST + 1))],
    ['an algorithm that is not here', 'lzma' as Compression, TEXT],
  ])('finds nothing in %s (%s)', async (_, compression, bytes) => {
    expect(await unpack(compression, bytes)).toBeUndefined();
  });

  it('finds what is just as large as a value may be', async () => {
    expect(await unpack('gzip', zlib.gzipSync(Buffer.alloc(MOST)))).toHaveLength(MOST);
  });

  it('unpacks no more than four at once, and waits two seconds at most', async () => {
    const bytes = zlib.gzipSync(Buffer.alloc(MOST));
    const all = Array.from({ length: 50 }, () => unpack('gzip', bytes));
    await fake.advance(2_001);
    const made = await Promise.all(all);
    // Time flew before all could have their turn.
    expect(made.filter((one) => one === LATE).length).toBeGreaterThan(0);
    expect(made.filter((one) => one === undefined)).toEqual([]);
  });
});
