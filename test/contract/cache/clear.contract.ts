import { Origin } from '../../support/origin.js';
import type { Subject } from './subject.js';

const LAG = 100;

export function clearContract(subject: () => Subject): void {
  const open = () => subject().process({ coherence: { maxLag: LAG } });

  describe('a clear', () => {
    for (const where of ['this process', 'another process']) {
      it(`made in ${where} makes everything a miss, and what is loaded after it stays`, async () => {
        const s = subject();
        const a = await open();
        const changer = where === 'this process' ? a : await open();
        await a.get('one', () => 'old');
        await a.set('two', 'old');
        await changer.cache.changes.clear();
        await s.lab.advance(LAG + 20);

        expect(await a.get('one', () => 'new')).toBe('new');
        expect(await a.peek('two')).toBeUndefined();
        expect(await a.get('one', () => 'newer')).toBe('new');
        expect(await changer.get('one', () => 'newer')).toBe('new');
      });
    }

    it('is heeded at once by the process that made it', async () => {
      const a = await open();
      await a.get('k', () => 'old');
      await a.cache.changes.clear();

      expect(await a.get('k', () => 'new')).toBe('new');
    });

    it('does not clear what another process loads right after it', async () => {
      const [a, b] = [await open(), await open()];
      await b.get('warm', () => 'up');
      for (let round = 0; round < 20; round++) {
        await a.cache.changes.clear();
        await b.get(`k${round}`, () => 'after');
        expect((await a.peek(`k${round}`))?.value).toBe('after');
      }
    });

    it('fences a load that began before it, and those who joined since load once more', async () => {
      const s = subject();
      const [a, b] = [await open(), await open()];
      const origin = new Origin();
      const before = a.get('k', origin.load);
      await origin.started(1);
      await b.cache.changes.clear();
      await s.lab.advance(LAG + 20);
      const after = [a, b].map((one) => one.get('k', origin.load));
      await origin.give('old');
      await origin.give('new');

      expect(await before).toBe('old');
      expect(await Promise.all(after)).toEqual(['new', 'new']);
      expect((await a.peek('k'))?.value).toBe('new');
    });

    it('of one name leaves the others alone', async () => {
      const s = subject();
      const [a, b] = [await open(), await open()];
      b.name = 'Shop.list';
      await a.get('k', () => 'a 1');
      await b.get('k', () => 'b 1');
      await b.cache.changes.clear('Shop.list');
      await s.lab.advance(LAG + 20);

      expect(await a.get('k', () => 'a 2')).toBe('a 1');
      expect(await b.get('k', () => 'b 2')).toBe('b 2');
      await a.cache.changes.clear();
      await s.lab.advance(LAG + 20);
      expect(await a.get('k', () => 'a 3')).toBe('a 3');
      await b.cache.changes.clear('Shop.list');
      expect(await b.get('k', () => 'b 4')).toBe('b 4');
      expect(await b.get('k', () => 'b 5')).toBe('b 4');
    });

    it('twice within a millisecond clears what was loaded in between', async () => {
      const a = await open();
      for (let round = 0; round < 20; round++) {
        await a.cache.changes.clear();
        await a.get('k', () => 'between');
        await a.cache.changes.clear();
        expect(await a.peek('k')).toBeUndefined();
      }
    });
  });
}
