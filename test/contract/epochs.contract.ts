import { freshToken, type Subject } from './subject.js';

/** Anything that a name may hold. */
const freshScope = (): string => `Größe "${freshToken()}"\n\u2028 {x} 1 - y`;

const epochOf = async (s: Subject, scope: string): Promise<number | undefined> =>
  (await s.second.epochs()).get(scope);

export function epochsContract(subject: () => Subject): void {
  describe('the epochs', () => {
    it('do not know a scope that was never cleared', async () => {
      const s = subject();
      expect(await epochOf(s, freshScope())).toBeUndefined();
    });

    it('are raised to the time of the store', async () => {
      const s = subject();
      const scope = freshScope();
      const { now: from } = await s.store.peek(s.key);
      const epoch = await s.store.clear(scope);
      const { now: to } = await s.store.peek(s.key);

      expect(epoch).toBeGreaterThanOrEqual(from);
      expect(epoch).toBeLessThanOrEqual(to);
      expect(await epochOf(s, scope)).toBe(epoch);
    });

    it('rise with every clear, however many in a millisecond', async () => {
      const s = subject();
      const scope = freshScope();
      const epochs = await Promise.all(
        Array.from({ length: 50 }, (_, at) => (at % 2 ? s.store : s.second).clear(scope)),
      );
      expect(new Set(epochs).size).toBe(50);
      expect(await epochOf(s, scope)).toBe(Math.max(...epochs));
    });

    it('are kept apart by scope; the whole namespace is one of them', async () => {
      const s = subject();
      const [one, other] = [freshScope(), freshScope()];
      const first = await s.store.clear(one);
      await s.store.clear(other);
      const all = await s.store.clear('');
      await s.store.clear(other);

      expect(await epochOf(s, one)).toBe(first);
      expect(await epochOf(s, '')).toBe(all);
    });

    it('rise above those of every other scope: an entry carries the greatest of those that concern it', async () => {
      const s = subject();
      const ahead = s.store.now() + 60_000;
      await s.store.raiseEpochs(new Map([['', ahead]]));

      expect(await s.store.clear('Shop.find')).toBeGreaterThan(ahead);
      expect(await s.store.clear('Shop.list')).toBeGreaterThan(ahead + 1);
    });

    it('that are cleared again after they were known to be far ahead rise by one', async () => {
      const s = subject();
      const scope = freshScope();
      const ahead = (await s.store.peek(s.key)).now + 1_000_000;
      await s.store.raiseEpochs(new Map([[scope, ahead]]));
      expect(await s.store.clear(scope)).toBe(ahead + 1);
    });

    it.each([9e15, 2 ** 53, 1e30, Infinity, 200_000_000])(
      'that are absurdly far ahead are not taken over, and clear still clears: %d',
      async (ahead) => {
        const s = subject();
        const [scope, other] = [freshScope(), freshScope()];
        const { now } = await s.store.peek(s.key);
        const absurd = new Map([
          [scope, now + ahead],
          [other, 5],
        ]);
        await s.store.raiseEpochs(absurd).catch(() => undefined);
        expect(await epochOf(s, scope)).toBeUndefined();
        const epoch = await s.store.clear(scope);
        expect(epoch - now).toBeLessThan(86_400_000);
        expect(await epochOf(s, scope)).toBe(epoch);
        expect(await epochOf(s, other)).toBe(5);
      },
    );

    it('that were lost are brought back, and none is lowered', async () => {
      const s = subject();
      const [kept, lost] = [freshScope(), freshScope()];
      const epoch = await s.store.clear(kept);
      const known = new Map([
        [kept, epoch - 1],
        [lost, 1_700_000_000_000],
      ]);
      await s.store.raiseEpochs(known);
      expect(await epochOf(s, kept)).toBe(epoch);
      expect(await epochOf(s, lost)).toBe(1_700_000_000_000);

      await s.second.raiseEpochs(new Map([[kept, epoch + 5]]));
      await s.second.raiseEpochs(new Map());
      expect(await epochOf(s, kept)).toBe(epoch + 5);
      expect(await epochOf(s, lost)).toBe(1_700_000_000_000);
    });
  });
}
