import { UncacheableValueError } from '../../../lib/core/errors.js';
import { Origin } from '../../support/origin.js';
import { errorOf, type Subject } from './subject.js';

export function changeContract(subject: () => Subject): void {
  describe('an invalidation', () => {
    for (const where of ['this process', 'another process']) {
      it(`made in ${where} can't be undone by a load begun before`, async () => {
        const s = subject();
        const a = await s.process();
        const changer = where === 'this process' ? a : await s.process();
        const origin = new Origin();
        const first = a.get('k', origin.load);
        await origin.started(1);
        await changer.invalidate('k');
        const second = a.get('k', origin.load);
        await origin.give('old');
        await origin.give('new');

        expect(await first).toBe('old');
        expect(await second).toBe('new');
        expect(origin.starts).toBe(2);
        expect(await a.entry('k', origin.load)).toMatchObject({ value: 'new', outcome: 'fresh' });
      });
    }

    it('lets those who joined a load after it began join exactly one more', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const before = a.get('k', origin.load);
      await origin.started(1);
      await b.invalidate('k');
      const after = Array.from({ length: 20 }, () => a.get('k', origin.load));
      await origin.give('old');
      await origin.give('new');

      expect(await before).toBe('old');
      expect(new Set(await Promise.all(after))).toEqual(new Set(['new']));
      expect(origin.starts).toBe(2);
    });

    it('keeps a skipped value from those who came after it', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const before = a.get('k', (ctx) => (ctx.skip(), origin.load()));
      await origin.started(1);
      await b.invalidate('k');
      const after = a.get('k', origin.load);
      await origin.give('old');
      await origin.give('new');

      expect(await before).toBe('old');
      expect(await after).toBe('new');
    });

    it('lets a waiting process load anew, while the old load still runs', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const [old, fresh] = [new Origin(), new Origin()];
      const first = a.get('k', old.load);
      await old.started(1);
      const second = b.get('k', fresh.load);
      await s.waiting(b);
      await a.invalidate('k');
      await fresh.give('new');

      expect(await second).toBe('new');
      await old.give('old');
      expect(await first).toBe('old');
      expect((await a.peek('k'))?.value).toBe('new');
    });
  });

  describe('set', () => {
    it('replaces the value, revokes a load under way and reaches its late joiners', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const first = a.get('k', origin.load);
      await origin.started(1);
      await b.set('k', 'set');
      const second = a.get('k', origin.load);
      await origin.give('old');

      expect(await first).toBe('old');
      expect(await second).toBe('set');
      expect(origin.starts).toBe(1);
    });

    it('drops the old value before it rejects what it can not store', async () => {
      const a = await subject().process();
      await a.set('k', 'old');
      const error = await errorOf(a.set('k', { call: () => undefined }));

      expect(error).toBeInstanceOf(UncacheableValueError);
      expect(error).toMatchObject({ path: 'call' });
      expect(await a.inspect('k')).toBeNull();
    });

    it('drops the old value before it rejects one over maxValueBytes', async () => {
      const a = await subject().process({ maxValueBytes: 100 });
      await a.set('k', 'old');

      expect(await errorOf(a.set('k', 'x'.repeat(200)))).toBeInstanceOf(UncacheableValueError);
      expect(await a.inspect('k')).toBeNull();
    });

    it('stores "not found" for negativeTtl', async () => {
      const a = await subject().process();
      await a.set('k', null, { negativeTtl: 500 });

      expect(await a.inspect('k')).toMatchObject({ negative: true });
      expect((await a.inspect('k'))?.freshFor).toBeLessThanOrEqual(500);
      expect(await a.entry('k', () => 'found')).toMatchObject({ value: null, outcome: 'negative' });
    });
  });
}
