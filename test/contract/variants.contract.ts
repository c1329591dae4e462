import { freshToken, LONG, type Subject } from './subject.js';

const freshName = (): string => `Größe.{${freshToken()}} get\n`;

export function variantsContract(subject: () => Subject): void {
  describe('the variants of a name', () => {
    it('are those that were announced, by whichever client', async () => {
      const s = subject();
      const name = freshName();
      expect(await s.store.variants(name)).toEqual([]);
      await s.store.announce(name, '.1', LONG);
      await s.second.announce(name, '.%C3%BC#x', LONG);
      await s.store.announce(name, '.1', LONG);

      expect([...(await s.second.variants(name))].sort()).toEqual(['.%C3%BC#x', '.1']);
    });

    it('are kept apart by name', async () => {
      const s = subject();
      const [one, other] = [freshName(), freshName()];
      await s.store.announce(one, '.1', LONG);
      expect(await s.store.variants(other)).toEqual([]);
    });

    it('leave the list when their time is over, as soon as another is announced', async () => {
      const s = subject();
      const name = freshName();
      await s.store.announce(name, '.old', 40);
      await s.store.announce(name, '.new', LONG);
      await s.eventually('the old one has ended', async () => {
        await s.store.announce(name, '.new', LONG);
        return !(await s.store.variants(name)).includes('.old');
      });
      expect(await s.store.variants(name)).toEqual(['.new']);
    });

    it('are gone when the last one has ended', async () => {
      const s = subject();
      const name = freshName();
      await s.store.announce(name, '.1', 40);
      await s.eventually('none is left', async () => (await s.store.variants(name)).length === 0);
    });

    it('last as long as the longest announcement of them', async () => {
      const s = subject();
      const name = freshName();
      await s.store.announce(name, '.1', LONG);
      await s.store.announce(name, '.1', 20);
      await s.store.announce(name, '.2', 20);
      await s.advance(60);
      await s.store.announce(name, '.3', LONG);
      expect([...(await s.store.variants(name))].sort()).toEqual(['.1', '.3']);
    });
  });
}
