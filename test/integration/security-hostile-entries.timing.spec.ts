import { randomBytes } from 'node:crypto';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import type { Redis } from 'ioredis';
import { encodeHeader, type EntryHeader } from '../../lib/core/entry/header.js';
import { RedisServer } from '../support/redis-server.js';
import { CacheClient } from './fleet/cache-client.js';

const MB = 1_024 * 1_024;
const POLICY = { ttl: '1m', jitter: 0, earlyRefresh: 0 } as const;
const GENUINE = { name: 'Ada', roles: ['admin'], since: new Date(0), text: 'é~"\\' };
const HOSTILE = '{"admin":true,"polluted":"~u"}';

/** What one unreadable entry may cost this process. Parsing a few MB of anything takes less. */
const MOST_MS = 1_000;
const MOST_BYTES = 96 * MB;

let server: RedisServer;
let raw: Redis;
let one: CacheClient;
let two: CacheClient;

beforeAll(async () => {
  server = await RedisServer.start();
  raw = server.client();
  const setup = {
    url: server.url,
    namespace: 'shop',
    options: { redisTimeout: '10s', redisWriteTimeout: '10s' },
  } as const;
  [one, two] = await Promise.all([CacheClient.open(setup), CacheClient.open(setup)]);
});
afterAll(async () => {
  await Promise.all([one.close(), two.close()]);
  await server.stop();
});
beforeEach(() => raw.flushall());

const dataKey = (key: string): string => `shop:d:{${one.idOf(key)}}`;

/** Makes entries of this key that are fresh for a long time, around any payload. */
async function entriesOf(
  key: string,
  over: Partial<EntryHeader> = {},
): Promise<(payload: Buffer | string) => Buffer> {
  await one.set(key, 'own', POLICY);
  const bytes = await raw.getBuffer(dataKey(key));
  // Fixed width up to the block, `size,cost,born,ttl,hard,epoch,digest` in it.
  const digest = /,([\w-]+)"own"$/.exec(String(bytes))?.[1];
  if (digest === undefined) throw new Error(`the digest was not found in ${String(bytes)}`);
  const now = Date.now();
  const header: EntryHeader = {
    ...{ kind: 'value', codec: 't', softAt: now + 60_000, loadStart: now, sourceVersion: 0, size: 0 },
    ...{ id: 'AAAAAAAAAAAAAAAAAAAAAA', cost: 1, bornAt: now, ttl: 60_000, hard: 60_000, epoch: 0, digest },
    ...{ tags: [], ...over },
  };
  return (payload) => {
    const bytes = Buffer.from(payload);
    return Buffer.concat([encodeHeader({ ...header, size: bytes.length }), bytes]);
  };
}

/** An entry as the cache itself wrote it. */
async function genuineBytes(key: string): Promise<Buffer> {
  await one.set(key, GENUINE, POLICY);
  const bytes = await raw.getBuffer(dataKey(key));
  if (bytes === null) throw new Error('nothing was stored');
  return bytes;
}

/** Both processes ask; the bytes must be a miss, and be replaced by one load. */
async function expectMiss(key: string, bytes: Buffer, isAlone = true): Promise<void> {
  await raw.set(dataKey(key), bytes);
  let loads = 0;
  const load = (): unknown => ((loads += 1), GENUINE);
  const began = performance.now();
  const before = process.memoryUsage().rss;
  const answers = await Promise.all([one, two, one].map((each) => each.entry(key, load, POLICY)));
  const cost = { ms: performance.now() - began, bytes: process.memoryUsage().rss - before };

  expect(answers.map(({ value }) => value)).toEqual([GENUINE, GENUINE, GENUINE]);
  expect(loads).toBe(1);
  // Beside others it costs what they cost.
  expect(isAlone ? cost.ms : 0).toBeLessThan(MOST_MS);
  expect(isAlone ? cost.bytes : 0).toBeLessThan(MOST_BYTES);
  // Replaced once: the next readers have hits.
  const next = await Promise.all([one, two].map((each) => each.entry(key, load, POLICY)));
  expect(next.map(({ outcome, value }) => ({ outcome, value }))).toEqual(
    next.map(() => ({ outcome: 'fresh', value: GENUINE })),
  );
  expect(loads).toBe(1);
  expectNoPrototypeTouched();
}

function expectNoPrototypeTouched(): void {
  for (const prototype of [Object.prototype, Array.prototype, Function.prototype, Map.prototype]) {
    expect(Object.keys(prototype)).toEqual([]);
    expect('admin' in prototype || 'polluted' in prototype).toBe(false);
  }
}

describe('hostile bytes in the place of an entry are a miss of bounded cost', () => {
  it('cut at any length', async () => {
    const whole = await genuineBytes('k');
    expect(whole.length).toBeGreaterThan(150);
    const lengths = Array.from(whole.keys());
    await Promise.all(
      lengths.map(async (length) => {
        const bytes = await genuineBytes(`k${length}`);
        await expectMiss(`k${length}`, bytes.subarray(0, bytes.length - whole.length + length), false);
      }),
    );
  });

  it('with any one byte of the head changed: a miss, or a hit with what was written', async () => {
    const { length } = (await entriesOf('k'))('');
    await Promise.all(
      Array.from({ length }, async (_, at) => {
        const spoilt = await genuineBytes(`k${at}`);
        spoilt[at] = 0x21;
        await raw.set(dataKey(`k${at}`), spoilt);
        expect((await two.entry(`k${at}`, () => GENUINE, POLICY)).value).toEqual(GENUINE);
      }),
    );
  });

  it.each([1, 71, 72, 300, 4_096, 8 * MB])('%i random bytes', async (size) => {
    await expectMiss('k', randomBytes(size));
  });

  it('8 MiB of noise or of text behind a genuine head', async () => {
    const entry = await entriesOf('k');
    for (const payload of [randomBytes(8 * MB), Buffer.alloc(8 * MB, 'x')]) {
      await expectMiss('k', entry(payload));
    }
  });

  it.each([
    ['', '[', ''],
    ['', '{"a":', ''],
    ['"~b', '9', 'x"'],
    ['"~d', '9', '"'],
    ['"~U', '/', '"'],
    ['"~B', '!', '"'],
    ['["~#RegExp","', '(', '","",0]'],
    ['["~#RegExp","', '(a|', '","",0]'],
    ['["~#URLSearchParams","?', '&', '"]'],
    ['["~#Set",1', ',1', ']'],
    ['["~#Map"', ',1', ']'],
  ])('1 MiB that is dear to parse behind a genuine head: %s%s…%s', async (begin, filler, end) => {
    const payload = Buffer.concat([Buffer.from(begin), Buffer.alloc(MB, filler), Buffer.from(end)]);
    await expectMiss('k', (await entriesOf('k'))(payload));
  });

  it.each([
    ['a block that is longer than everything', (head: Buffer) => head.fill('9', 68, 72)],
    ['a block of no length', (head: Buffer) => head.fill('0', 68, 72)],
    ['a length that is no number', (head: Buffer) => head.fill('-', 68, 72)],
    ['another wire version', (head: Buffer) => head.fill('9', 0, 1)],
    ['an unknown kind', (head: Buffer) => head.fill('?', 1, 2)],
    ['a compression nobody knows', (head: Buffer) => head.fill('q', 2, 3)],
    ['a compression that it has not', (head: Buffer) => head.fill('b', 2, 3)],
    ['a compression that not every Node.js has', (head: Buffer) => head.fill('z', 2, 3)],
    ['another codec letter', (head: Buffer) => head.fill('q', 3, 4)],
    ['the letter of a custom serializer', (head: Buffer) => head.fill('x', 3, 4)],
  ])('a head with %s', async (_, spoil) => {
    await expectMiss('k', spoil((await entriesOf('k'))('{"a":1}')));
  });

  it.each([
    ['5,000 tags', { tags: Array.from({ length: 5_000 }, () => ({ id: 'a', hard: 'b', soft: '' })) }],
    ['the name of a serializer nobody has', { codec: 'x', serializer: 'eval' }],
    ['a serializer called __proto__', { codec: 'x', serializer: '__proto__' }],
    ['an error that is none', { kind: 'error' }],
  ] as [string, Partial<EntryHeader>][])('a head with %s', async (_, over) => {
    await expectMiss('k', (await entriesOf('k', over))(Buffer.from(`["__proto__",${HOSTILE}]`)));
  });

  it('what other caches and compressors write', async () => {
    const json = JSON.stringify({ value: GENUINE, expires: 2 ** 41 });
    const entry = await entriesOf('k');
    const payloads = [
      gzipSync(json),
      deflateSync(json),
      brotliCompressSync(json),
      gzipSync(Buffer.alloc(8 * MB)),
    ];
    for (const payload of payloads) {
      await expectMiss('k', payload);
      await expectMiss('k', entry(payload));
    }
    await expectMiss('k', Buffer.from(json));
    await expectMiss('k', Buffer.from('\u0080\u0004cposix\nsystem\n', 'latin1'));
    await expectMiss('k', Buffer.from('O:8:"stdClass":1:{s:5:"admin";b:1;}'));
  });

  it.each([
    ['gzip', (bytes: Buffer) => gzipSync(bytes, { level: 1 })],
    ['deflate', (bytes: Buffer) => deflateSync(bytes, { level: 1 })],
    [
      'brotli',
      (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    ],
  ] as const)('a bomb of %s: 512 MiB in less than three', async (compression, pack) => {
    const bomb = pack(Buffer.alloc(512 * MB, 'x'));
    expect(bomb.length).toBeLessThan(3 * MB);
    await expectMiss('k', (await entriesOf('k', { compression }))(bomb));
  });

  it.each(['gzip', 'deflate', 'brotli', 'zstd'] as const)(
    'noise, text, and half of something said to be %s',
    async (compression) => {
      const entry = await entriesOf('k', { compression });
      const half = gzipSync(randomBytes(MB));
      for (const payload of [randomBytes(MB), Buffer.alloc(8 * MB, 'x'), half.subarray(0, MB / 2), ''])
        await expectMiss('k', entry(payload));
    },
  );

  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
    ['Maps', '["~#Map",1,', ']'],
    ['Sets', '["~#Set",', ']'],
    ['errors', '["~#Error","Error",{"cause":', '},{}]'],
    ['arrays with holes', '["~#Array",1,{"0":', '}]'],
  ])('%s nested a hundred thousand deep', async (_, opening, closing) => {
    const deep = `${opening.repeat(100_000)}"~u"${closing.repeat(100_000)}`;
    await expectMiss('k', (await entriesOf('k'))(Buffer.from(deep)));
  });

  it('references, which the format does not know, in numbers that would multiply', async () => {
    const entry = await entriesOf('k');
    const laughs = Array.from({ length: 64 }, (_, i) => `"l${i}":[${'["~#ref","l"],'.repeat(9)}1]`).join();
    for (const text of [`{${laughs}}`, '["~#ref",0]', '["~#@","$"]', '"~#0"']) {
      await expectMiss('k', entry(Buffer.from(text)));
    }
  });

  it.each([
    '["~#Array",4294967296,{}]',
    '["~#Array",1e9,{"1000000000":1}]',
    '["~#Uint8Array",4294967295]',
    '["~#ArrayBuffer",1e12]',
    '["~#Float64Array","AA=="]',
    '["~#class","Object",{}]',
    '["~#class","Function",{"a":"~u"}]',
    '["~#class-error","Error",{},{}]',
  ])('a length or a class that the bytes only announce: %s', async (text) => {
    await expectMiss('k', (await entriesOf('k'))(Buffer.from(text)));
  });
});

describe('what is readable and hostile all the same', () => {
  it.each(['j', 't'] as const)('reaches no prototype: codec %s', async (codec) => {
    const entry = await entriesOf('k', { codec });
    const text = `{"__proto__":${HOSTILE},"constructor":{"prototype":${HOSTILE}},"toString":1,"then":{"a":1}}`;
    await raw.set(dataKey('k'), entry(Buffer.from(text)));
    const { value, outcome } = await one.entry('k', () => 'loaded', POLICY);
    expect(outcome).toBe('fresh');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor', 'toString', 'then']);
    expectNoPrototypeTouched();
  });

  it('reaches none as a stored error either', async () => {
    const error = `{"as":"class","name":"__proto__","message":"m","own":{"__proto__":${HOSTILE}}}`;
    await raw.set(dataKey('k'), (await entriesOf('k', { kind: 'error' }))(Buffer.from(error)));
    await expect(one.entry('k', () => 'loaded', POLICY)).rejects.toMatchObject({ name: 'RemoteLoadError' });
    expectNoPrototypeTouched();
  });

  it('an array of four billion holes costs nothing', async () => {
    const before = process.memoryUsage().rss;
    const entry = await entriesOf('k');
    await raw.set(dataKey('k'), entry(Buffer.from('["~#Array",4294967295,{"4294967294":1}]')));
    const began = performance.now();
    for (const policy of [POLICY, { ...POLICY, shared: true }]) {
      const { value } = await one.entry('k', () => 'loaded', policy);
      expect((value as unknown[]).length).toBe(4_294_967_295);
    }
    expect(performance.now() - began).toBeLessThan(MOST_MS);
    expect(process.memoryUsage().rss - before).toBeLessThan(MOST_BYTES);
  });
});
