import { randomBytes } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { encodeHeader } from '../../../lib/core/entry/index.js';
import { until } from '../../support/until.js';
import type { Process } from './lab.js';
import { errorOf, type Subject } from './subject.js';

const LARGE = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}`, at: new Date(id) }));
const OTHER = LARGE.map((row) => ({ ...row, name: 'changed' }));
const PLAIN_BYTES = 90_000;
const compress = true;

/** Byte 2 of what is stored. */
async function letterOf(process: Process, key = 'k'): Promise<string | undefined> {
  const bytes = await process.store.read(process.request(key, () => undefined, {}).key);
  return bytes?.toString('latin1', 2, 3);
}

export function compressContract(subject: () => Subject): void {
  describe('a compressed entry', () => {
    it('is read by whoever does not compress, and the other way round', async () => {
      const s = subject();
      const [a, b] = [await s.process({ policy: { compress } }), await s.process()];
      await a.get('k', () => LARGE);
      await b.get('plain', () => LARGE);

      expect([await letterOf(a, 'k'), await letterOf(a, 'plain')]).toEqual(['b', '-']);
      for (const key of ['k', 'plain']) {
        for (const process of [a, b]) {
          const { value, outcome } = await process.entry(key, () => 'loaded again');
          expect(outcome).toBe('fresh');
          expect(value).toEqual(LARGE);
        }
      }
    });

    it.each([
      ['gzip', 'g'],
      ['deflate', 'd'],
      ['brotli', 'b'],
    ] as const)(
      'by %s carries its letter, and what is asked for the entry counts',
      async (algorithm, letter) => {
        const s = subject();
        const a = await s.process({ policy: { compress } });
        await a.get('k', () => LARGE, { compress: { algorithm } });
        await a.get('not', () => LARGE, { compress: false });

        expect([await letterOf(a, 'k'), await letterOf(a, 'not')]).toEqual([letter, '-']);
        expect((await a.entry('k', () => 'loaded again')).value).toEqual(LARGE);
      },
    );

    it('is smaller where it lies, and inspect tells so', async () => {
      const s = subject();
      const a = await s.process();
      await a.get('k', () => LARGE, { compress });
      const info = await a.inspect('k');

      expect(info).toMatchObject({ state: 'fresh', negative: false });
      expect(info?.bytes).toBeGreaterThan(1_000);
      expect(info?.bytes).toBeLessThan(PLAIN_BYTES / 4);
    });

    it('is none where the value is small, or does not become smaller', async () => {
      const s = subject();
      const a = await s.process({ policy: { compress } });
      const noise = randomBytes(100_000).toString('latin1');
      // As base64 it would shrink by a quarter: the bytes of a serializer are stored as they come.
      const serializer = { name: 'bytes', encode: () => Buffer.from(noise, 'latin1'), decode: () => noise };
      await a.get('small', () => LARGE.slice(0, 10));
      await a.get('noise', () => noise, { serializer });
      await a.get('later', () => LARGE, { compress: { threshold: '1mb' } });

      for (const key of ['small', 'noise', 'later']) expect(await letterOf(a, key)).toBe('-');
      expect(await a.get('noise', () => 'loaded again', { serializer })).toBe(noise);
    });

    it('of a serializer goes through it', async () => {
      const s = subject();
      const a = await s.process({ policy: { compress } });
      const serializer = {
        name: 'own',
        encode: (value: unknown) => Buffer.from(JSON.stringify({ value })),
        decode: (bytes: Uint8Array): unknown =>
          (JSON.parse(Buffer.from(bytes).toString()) as { value: unknown }).value,
      };
      await a.get('k', () => 'x'.repeat(50_000), { serializer });

      expect(await letterOf(a)).toBe('b');
      expect(await a.get('k', () => 'again', { serializer })).toBe('x'.repeat(50_000));
    });

    it('comes from set, and is shared frozen where that is wanted', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      await a.set('k', LARGE, { compress });
      expect(await letterOf(a)).toBe('b');
      const both = await Promise.all([1, 2].map(() => b.get('k', () => 'again', { shared: true })));

      expect(both[0]).toEqual(LARGE);
      expect(both[0]).toBe(both[1]);
      expect(Object.isFrozen(both[0])).toBe(true);
    });

    it('counts by its size before it was compressed', async () => {
      const s = subject();
      const a = await s.process({ maxValueBytes: 50_000, policy: { compress } });
      const small = await s.process({ policy: { compress } });
      await a.get('k', () => LARGE);

      expect(await a.inspect('k')).toBeNull();
      expect(s.lab.warnings.filter((line) => line.includes('over maxValueBytes (50000)'))).toHaveLength(1);
      expect(await errorOf(a.set('k', LARGE))).toMatchObject({ code: 'UNCACHEABLE_VALUE' });
      // Nor is it read: who allows so little has no room for it.
      await small.get('k', () => LARGE);
      expect(await a.get('k', () => 'loaded')).toBe('loaded');
    });

    it('reaches those who wait in another process', async () => {
      const s = subject();
      const [a, b] = [await s.process({ policy: { compress } }), await s.process()];
      let give: (value: unknown) => void = () => undefined;
      const first = a.get('k', () => new Promise((resolve) => (give = resolve)));
      await s.happened(a, 'load.start');
      const second = b.entry('k', () => 'loaded again');
      await s.waiting(b);
      give(LARGE);

      expect(await first).toEqual(LARGE);
      expect(await second).toMatchObject({ outcome: 'waited' });
      expect((await second).value).toEqual(LARGE);
    });

    it('is stored when its load has an answer: the next call does not see what was there before', async () => {
      const s = subject();
      const a = await s.process({ policy: { compress, stale: 60_000 } });
      for (let i = 0; i < 5; i++) {
        const [before, after] = [`before ${i}`, LARGE.map((row) => ({ ...row, round: i }))];
        await a.set('k', before);
        expect(await a.get('k', () => after, {}, { fresh: true })).toEqual(after);
        expect(await a.get('k', () => 'loaded again')).toEqual(after);
        expect(await letterOf(a)).toBe('b');
      }
    });

    it('is the stale value of a load, of an error, and of a refresh', async () => {
      const s = subject();
      const a = await s.process({ policy: { compress, stale: 60_000 } });
      await a.get('k', () => LARGE);
      await a.expire('k');
      let seen: unknown;
      const { value, outcome } = await a.entry('k', (ctx) => ((seen = ctx.stale), OTHER));
      expect(outcome).toBe('stale');
      expect(value).toEqual(LARGE);
      await s.happened(a, 'publish', 2);
      expect(seen).toEqual(LARGE);
      expect(await a.get('k', () => 'again')).toEqual(OTHER);

      await a.expire('k');
      const failed = await a.entry('k', () => Promise.reject(new Error('down')), {
        stale: 0,
        staleIfError: 60_000,
      });
      expect(failed.value).toEqual(OTHER);
    });

    it('stays compressed where a load keeps it (notModified), whether its head keeps its length or not', async () => {
      const s = subject();
      const a = await s.process({ policy: { compress, stale: 600_000 } });
      const b = await s.process();
      // Another ttl has other digits, so the head does not fit into its place.
      for (const [key, ttl] of [
        ['k', 60_000],
        ['longer', 600_000],
      ] as const) {
        await a.get(key, () => LARGE);
        await a.expire(key);
        await a.entry(key, (ctx) => ctx.notModified(), { ttl, stale: 600_000 });
        await until(async () => (await b.peek(key))?.outcome === 'fresh');

        expect(await letterOf(a, key)).toBe('b');
        expect((await b.peek(key))?.value).toEqual(LARGE);
        expect((await b.inspect(key))?.bytes).toBeLessThan(PLAIN_BYTES / 4);
      }
    });

    it('is kept by a load of a process that does not compress', async () => {
      const s = subject();
      const [a, b] = [await s.process({ policy: { compress } }), await s.process()];
      const policy = { stale: 600_000 };
      for (const ttl of [60_000, 600_000]) {
        await a.set('k', LARGE, policy);
        await b.expire('k');
        await b.entry('k', (ctx) => ctx.notModified(), { ...policy, ttl });
        await until(async () => (await a.peek('k'))?.outcome === 'fresh');
        expect((await a.peek('k'))?.value).toEqual(LARGE);
      }
    });

    it('may be "not found", or an error that is an answer', async () => {
      class Gone extends Error {
        rows = LARGE.slice(0, 1_000).map(({ name }) => name);
      }
      const s = subject();
      const [a, b] = [await s.process({ policy: { compress: { threshold: 1_000 } } }), await s.process()];
      await a.get('k', () => LARGE, { isNegative: () => true });
      expect(await b.entry('k', () => 'again')).toMatchObject({ outcome: 'negative', value: LARGE });
      expect(await letterOf(a)).toBe('b');

      const policy = { negativeErrors: Gone, errors: [Gone] };
      const load = (): never => {
        throw new Gone('gone');
      };
      await errorOf(a.get('e', load, policy));
      expect(await letterOf(a, 'e')).toBe('b');
      const error = await errorOf(b.get('e', () => 'again', policy));
      expect(error).toBeInstanceOf(Gone);
      expect((error as Gone).rows).toHaveLength(1_000);
    });

    it('goes with its tag, and becomes stale with it', async () => {
      const s = subject();
      const [a, b] = [await s.process({ policy: { compress } }), await s.process()];
      const policy = { tags: ['t'], stale: 60_000 };
      await a.get('k', () => LARGE, policy);
      await a.cache.changes.expireTags(['t']);
      expect(await a.entry('k', () => OTHER, policy)).toMatchObject({ outcome: 'stale', value: LARGE });
      await s.happened(a, 'publish', 2);
      expect(await b.get('k', () => 'again', policy)).toEqual(OTHER);
      await a.cache.changes.invalidateTags(['t']);
      expect(await a.get('k', () => 'new', policy)).toBe('new');
    });

    it.each(['process', 'none'] as const)(
      'is written without a lease too: coordinate %s',
      async (coordinate) => {
        const s = subject();
        const a = await s.process({ policy: { compress, coordinate } });
        await a.get('k', () => LARGE);
        await s.happened(a, 'publish');

        expect(await letterOf(a)).toBe('b');
        expect(await a.get('k', () => 'again')).toEqual(LARGE);
      },
    );

    const text = JSON.stringify(LARGE);
    const cases: [string, string, Buffer][] = [
      ['an algorithm nobody knows', 'q', gzipSync(text)],
      ['the letter of another algorithm', 'g', brotliCompressSync(text)],
      ['noise', 'b', randomBytes(20_000)],
      ['half of its bytes', 'g', gzipSync(text).subarray(0, 2_000)],
      ['what is not compressed', 'd', Buffer.from(text)],
      ['what is compressed and not said to be', '-', gzipSync(text)],
      ['more than a value may have', 'b', brotliCompressSync(`"${'a'.repeat(9 * 1_024 * 1_024)}"`)],
      ['compressed noise', 'g', gzipSync(randomBytes(10_000))],
    ];
    it.each(cases)('with %s is a miss, and replaced once', async (_, letter, payload) => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const { key } = a.request('k', () => undefined, {});
      const head = encodeHeader({
        ...{ kind: 'value', codec: 'j', softAt: 9_000_000_000_000, loadStart: 1, sourceVersion: 0 },
        ...{ id: 'abcdefghijklmnopqrstuv', size: payload.length, cost: 1, bornAt: 2, ttl: 1_000 },
        ...{ hard: 1_000, epoch: 0, digest: key.digest, tags: [] },
      });
      head.write(letter, 2, 'latin1');
      await a.store.write(key, Buffer.concat([head, payload]), 60_000);
      let loads = 0;
      const load = (): string => ((loads += 1), 'loaded');

      expect(await Promise.all([a.get('k', load), b.get('k', load), a.get('k', load)])).toEqual([
        'loaded',
        'loaded',
        'loaded',
      ]);
      expect(loads).toBe(1);
      expect((await b.peek('k'))?.value).toBe('loaded');
    });
  });
}
