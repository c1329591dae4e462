import { randomBytes } from 'node:crypto';
import * as zlib from 'node:zlib';
import { compress, COMPRESSIONS, decompress, type Compression } from '../../../lib/core/codec/index.js';

const MB = 1_024 * 1_024;
const TEXT = Buffer.from(
  JSON.stringify(Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}` }))),
);
const OVER = { code: 'ERR_BUFFER_TOO_LARGE' };

/** Bytes of an algorithm that this Node.js may not have. */
const ABSENT = (['zstd'] as const).filter((name) => !COMPRESSIONS.includes(name));

describe.each(COMPRESSIONS)('%s', (algorithm) => {
  it.each([
    ['one byte', Buffer.from('1')],
    ['JSON', TEXT],
    ['noise', randomBytes(100_000)],
    ['8 MiB of one letter', Buffer.alloc(8 * MB, 'a')],
  ])('gives back %s', async (_, bytes) => {
    const packed = await compress(algorithm, bytes, bytes.length + 1_000);
    expect((await decompress(algorithm, packed, bytes.length)).equals(bytes)).toBe(true);
  });

  it('makes JSON much smaller', async () => {
    expect((await compress(algorithm, TEXT, TEXT.length)).length).toBeLessThan(TEXT.length / 3);
  });

  it('rejects where more comes out than is allowed, in either direction', async () => {
    const packed = await compress(algorithm, TEXT, TEXT.length);
    await expect(compress(algorithm, TEXT, packed.length - 1)).rejects.toMatchObject(OVER);
    await expect(decompress(algorithm, packed, TEXT.length - 1)).rejects.toMatchObject(OVER);
  });

  it('rejects what is cut, and nothing at all', async () => {
    const packed = await compress(algorithm, TEXT, TEXT.length);
    for (const length of [0, 1, 5, packed.length >> 1, packed.length - 1])
      await expect(decompress(algorithm, packed.subarray(0, length), MB)).rejects.toHaveProperty('code');
  });

  it('rejects noise, or makes of it no more than is allowed', async () => {
    for (let i = 0; i < 50; i++) {
      const made = await decompress(algorithm, randomBytes(1_000), 10_000).catch(() => Buffer.alloc(0));
      expect(made.length).toBeLessThanOrEqual(10_000);
    }
  });

  it('never blocks the event loop for as long as it works', async () => {
    const bytes = Buffer.alloc(32 * MB, TEXT);
    let turns = 0;
    const packing = compress(algorithm, bytes, bytes.length);
    let isOver = false;
    void packing.finally(() => (isOver = true));
    while (!isOver) {
      turns += 1;
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
    // On the loop itself it would be over before the first turn.
    expect(turns).toBeGreaterThan(10);
    await expect(decompress(algorithm, await packing, bytes.length)).resolves.toHaveLength(bytes.length);
  });
});

describe('a bomb', () => {
  const bombs: [Compression, Buffer][] = [
    ['gzip', zlib.gzipSync(Buffer.alloc(64 * MB))],
    ['deflate', zlib.deflateSync(Buffer.alloc(64 * MB))],
    ['brotli', zlib.brotliCompressSync(Buffer.alloc(64 * MB))],
  ];
  it.each(bombs)('of %s costs what is allowed, not what it holds', async (algorithm, bomb) => {
    expect(bomb.length).toBeLessThan(70_000);
    const before = process.memoryUsage().arrayBuffers;
    const peak = { bytes: 0 };
    const timer = setInterval(() => {
      peak.bytes = Math.max(peak.bytes, process.memoryUsage().arrayBuffers - before);
    }, 1);
    try {
      await expect(decompress(algorithm, bomb, MB)).rejects.toMatchObject(OVER);
    } finally {
      clearInterval(timer);
    }
    expect(peak.bytes).toBeLessThan(8 * MB);
  });
});

it('of an algorithm that is not here nothing is compressed', () => {
  for (const algorithm of ABSENT) expect(() => compress(algorithm, TEXT, MB)).toThrow(`has no ${algorithm}`);
  expect(COMPRESSIONS.slice(0, 3)).toEqual(['brotli', 'gzip', 'deflate']);
});
