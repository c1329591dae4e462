import { AsyncLocalStorage } from 'node:async_hooks';
import type { Subject } from './subject.js';
import { errorOf } from './subject.js';

export function deferContract(subject: () => Subject): void {
  describe('deferred changes', () => {
    const three = async () => {
      const a = await subject().process();
      for (const key of ['one', 'two', 'three']) await a.get(key, () => `${key} old`, { tags: ['t'] });
      return a;
    };

    it('happen when the run resolves', async () => {
      const a = await three();
      const result = await a.cache.changes.defer(async () => {
        await a.invalidate('one');
        await a.set('two', 'two set');
        expect((await a.peek('one'))?.value).toBe('one old');
        expect((await a.peek('two'))?.value).toBe('two old');
        return 'done';
      });

      expect(result).toBe('done');
      expect(await a.peek('one')).toBeUndefined();
      expect((await a.peek('two'))?.value).toBe('two set');
      expect((await a.peek('three'))?.value).toBe('three old');
    });

    it('are dropped when it rejects', async () => {
      const a = await three();
      const run = a.cache.changes.defer(async () => {
        await a.invalidate('one');
        await a.cache.changes.invalidateTags(['t']);
        await a.cache.changes.clear();
        throw new Error('rolled back');
      });

      expect(await errorOf(run)).toMatchObject({ message: 'rolled back' });
      for (const key of ['one', 'two', 'three']) expect((await a.peek(key))?.value).toBe(`${key} old`);
    });

    it('made in a nested run join the outermost; those of one that failed are dropped alone', async () => {
      const a = await three();
      await a.cache.changes.defer(async () => {
        await a.cache.changes.defer(() => a.invalidate('one'));
        await a.cache.changes
          .defer(async () => {
            await a.invalidate('two');
            throw new Error('savepoint');
          })
          .catch(() => undefined);
        expect((await a.peek('one'))?.value).toBe('one old');
      });

      expect(await a.peek('one')).toBeUndefined();
      expect((await a.peek('two'))?.value).toBe('two old');
    });

    it('keep their order where it matters', async () => {
      const a = await three();
      await a.cache.changes.defer(async () => {
        await a.set('one', 'one set');
        await a.invalidate('one');
        await a.invalidate('two');
        await a.set('two', 'two set');
        await a.cache.changes.clear();
        await a.set('three', 'three set');
      });

      expect(await a.peek('one')).toBeUndefined();
      expect(await a.peek('two')).toBeUndefined();
      expect((await a.peek('three'))?.value).toBe('three set');
    });

    it('take a value as it was when it was set', async () => {
      const a = await three();
      await a.cache.changes.defer(async () => {
        const value = { n: 1 };
        await a.set('one', value);
        value.n = 2;
      });

      expect((await a.peek('one'))?.value).toEqual({ n: 1 });
    });

    it('made after the run is over happen at once', async () => {
      const a = await three();
      let later = (): Promise<void> => Promise.resolve();
      await a.cache.changes.defer(async () => {
        const snapshot = AsyncLocalStorage.snapshot();
        later = () => snapshot(() => a.invalidate('one'));
      });
      await later();

      expect(await a.peek('one')).toBeUndefined();
    });
  });
}
