import { Origin } from '../../support/origin.js';
import { until } from '../../support/until.js';
import type { Load } from './lab.js';
import { errorOf, type Subject } from './subject.js';

class NotFound extends Error {
  override readonly name = 'NotFound';
}

export function policyContract(subject: () => Subject): void {
  describe('values', () => {
    const falsy: [string, unknown][] = [
      ['0', 0],
      ["''", ''],
      ['false', false],
      ['NaN', NaN],
      ['[]', []],
    ];
    it.each(falsy)('caches %s like any other', async (_, value) => {
      const a = await subject().process();
      let loads = 0;
      const load = (): unknown => ((loads += 1), value);
      await a.get('k', load);
      const answer = await a.entry('k', load);

      expect(answer).toMatchObject({ outcome: 'fresh' });
      expect(answer.value).toEqual(value);
      expect(loads).toBe(1);
    });

    it.each([[null], [undefined]])(
      'remembers that %p is "not found" for negativeTtl, and tells it apart',
      async (value) => {
        const s = subject();
        const a = await s.process();
        const policy = { ttl: 60_000, stale: 60_000, negativeTtl: 60 };
        await a.get('k', () => value, policy);

        expect(await a.entry('k', () => 'found', policy)).toMatchObject({ value, outcome: 'negative' });
        await s.lab.advance(70);
        expect(await a.get('k', () => 'found', policy)).toBe('found');
      },
    );

    it('replaces a stale positive by a negative', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { ttl: 30, stale: 60_000 };
      await a.get('k', () => 'v', policy);
      await s.lab.advance(40);
      expect(await a.get('k', () => null, policy)).toBe('v');
      await until(async () => (await a.entry('k', () => null, policy)).value === null);
    });

    it('stores no "not found" with negativeTtl 0', async () => {
      const a = await subject().process();
      await a.get('k', () => null, { negativeTtl: 0 });

      expect(await a.get('k', () => 'found')).toBe('found');
    });

    it('returns and does not store what cacheIf, ctx.skip, a ttl of 0 or ctx.ttl(0) says', async () => {
      const a = await subject().process();
      const cases: [string, Load, object][] = [
        ['cacheIf', () => ({ ok: false }), { cacheIf: ({ ok }: { ok: boolean }) => ok }],
        ['skip', (ctx) => (ctx.skip(), 'v'), {}],
        ['ttl', () => 'v', { ttl: 0 }],
        ['computed ttl', () => 'v', { ttl: () => -1 }],
        ['ctx.ttl', (ctx) => (ctx.ttl(0), 'v'), {}],
      ];
      for (const [key, load, policy] of cases) {
        expect(await a.get(key, load, policy)).toBeTruthy();
        expect(await a.inspect(key)).toBeNull();
      }
    });

    it('computes the ttl from the value and the arguments', async () => {
      const a = await subject().process();
      await a.get('k', () => ({ life: 500 }), {
        ttl: ({ life }: { life: number }, key: unknown) => (key === 'k' ? life : 1),
      } as never);

      expect((await a.inspect('k'))?.freshFor).toBeGreaterThan(300);
      expect((await a.inspect('k'))?.freshFor).toBeLessThanOrEqual(500);
    });

    it('delivers a value whose policy functions throw, and warns once', async () => {
      const a = await subject().process();
      const policy = {
        cacheIf: () => {
          throw new Error('bug');
        },
      };
      expect(await a.get('k', () => 'v', policy)).toBe('v');
      expect(await a.get('k', () => 'v', policy)).toBe('v');
      expect(subject().lab.warnings.filter((line) => line.includes('bug'))).toHaveLength(1);
    });

    it('keeps the stale value for a new ttl when the loader says notModified', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { ttl: 50, stale: 60_000 };
      await a.get('k', () => ({ v: 1 }), policy);
      await s.lab.advance(60);
      let seen: unknown;
      await a.get('k', (ctx) => ((seen = ctx.stale), ctx.notModified()), policy);
      await until(
        async () => (await a.entry('k', () => 'other', { ...policy, stale: 0 })).outcome === 'fresh',
      );

      expect(seen).toEqual({ v: 1 });
      expect((await a.peek('k', policy))?.value).toEqual({ v: 1 });
    });

    it('refuses notModified without a stale value', async () => {
      const a = await subject().process();

      expect(await errorOf(a.get('k', (ctx) => ctx.notModified()))).toMatchObject({ code: 'CONFIGURATION' });
    });

    it('rejects an uncacheable value with its path each time, or delivers it with one warning', async () => {
      class Entity {
        id = 1;
      }
      const a = await subject().process();
      const load = (): unknown => ({ items: [new Entity()] });
      for (let i = 0; i < 2; i++) {
        expect(await errorOf(a.get('k', load))).toMatchObject({
          code: 'UNCACHEABLE_VALUE',
          path: 'items[0]',
        });
      }
      for (let i = 0; i < 2; i++) {
        const value = (await a.get('k', load, { onUncacheable: 'bypass' })) as { items: Entity[] };
        expect(value.items[0]).toBeInstanceOf(Entity);
      }
      expect(subject().lab.warnings.filter((line) => line.includes('Entity'))).toHaveLength(1);
    });

    it('returns and does not store a value over maxValueBytes, with one warning', async () => {
      const a = await subject().process({ maxValueBytes: 100 });
      for (let i = 0; i < 2; i++) expect(await a.get('k', () => 'x'.repeat(200))).toHaveLength(200);

      expect(await a.inspect('k')).toBeNull();
      expect(subject().lab.warnings.filter((line) => line.includes('maxValueBytes'))).toHaveLength(1);
    });

    it('takes an entry of another serializer for a miss', async () => {
      const a = await subject().process();
      const serializer = (name: string) => ({
        name,
        encode: (value: unknown) => Buffer.from(JSON.stringify({ name, value })),
        decode: (bytes: Uint8Array): unknown =>
          (JSON.parse(Buffer.from(bytes).toString()) as { value: unknown }).value,
      });
      await a.get('k', () => 'one', { serializer: serializer('one') });

      expect(await a.get('k', () => 'x', { serializer: serializer('one') })).toBe('one');
      expect(await a.get('k', () => 'two', { serializer: serializer('two') })).toBe('two');
      expect(await a.get('k', () => 'three')).toBe('three');
      expect(await a.get('k', () => 'x')).toBe('three');
    });
  });

  describe('errors that are answers', () => {
    const policy = { negativeErrors: NotFound, errors: [NotFound], negativeTtl: 60 } as const;

    it('are stored for negativeTtl and thrown again alike', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const load = (): never => {
        throw Object.assign(new NotFound('no 7'), { id: 7 });
      };
      await errorOf(a.get('k', load, policy));
      const again = await errorOf(b.get('k', () => 'found', policy));

      expect(again).toBeInstanceOf(NotFound);
      expect(again).toMatchObject({ message: 'no 7', id: 7 });
      await s.lab.advance(70);
      expect(await b.get('k', () => 'found', policy)).toBe('found');
    });

    it('are not hidden by a stale value or a fallback', async () => {
      const s = subject();
      const a = await s.process();
      const all = { ...policy, ttl: 30, stale: 0, staleIfError: 60_000, fallback: () => 'fallback' };
      await a.get('k', () => 'v', all);
      await s.lab.advance(40);

      expect(await errorOf(a.get('k', () => Promise.reject(new NotFound('gone')), all))).toBeInstanceOf(
        NotFound,
      );
    });

    it('that can not be restored are thrown, not stored, with one warning', async () => {
      const a = await subject().process();
      const unlisted = { negativeErrors: NotFound };
      for (let i = 0; i < 2; i++) {
        expect(await errorOf(a.get('k', () => Promise.reject(new NotFound('x')), unlisted))).toBeInstanceOf(
          NotFound,
        );
      }
      expect(await a.inspect('k')).toBeNull();
      expect(subject().lab.warnings.filter((line) => line.includes('negativeErrors'))).toHaveLength(1);
    });
  });

  describe('ways past the lease', () => {
    it('mayExist: false is "not found" without store or load', async () => {
      const a = await subject().process();
      const answer = await a.entry('k', () => 'never', { mayExist: async () => false } as never);

      expect(answer).toMatchObject({ value: null, outcome: 'negative' });
      expect(a.cache.stats().loads.started).toBe(0);
    });

    it("coordinate: 'process' loads once a process and leaves a held lease alone", async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const policy = { coordinate: 'process' } as const;
      const calls = [
        a.get('k', origin.load, policy),
        a.get('k', origin.load, policy),
        b.get('k', origin.load, policy),
      ];
      await origin.started(2);
      await origin.give('v');
      await origin.give('v');
      await Promise.all(calls);

      expect(origin.starts).toBe(2);
      expect((await a.peek('k'))?.value).toBe('v');
    });

    it("coordinate: 'none' is plain cache-aside", async () => {
      const a = await subject().process();
      const origin = new Origin();
      const calls = Array.from({ length: 5 }, () => a.get('k', origin.load, { coordinate: 'none' }));
      await origin.started(5);
      for (let i = 0; i < 5; i++) await origin.give('v');

      expect(await Promise.all(calls)).toEqual(Array(5).fill('v'));
      await until(async () => (await a.peek('k'))?.value === 'v');
      expect(await a.get('k', origin.load, { coordinate: 'none' })).toBe('v');
    });
  });
}
