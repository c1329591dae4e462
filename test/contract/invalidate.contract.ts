import { LONG, type Subject } from './subject.js';

export function invalidateContract(subject: () => Subject): void {
  describe('invalidate', () => {
    it('drops the entry, for every client', async () => {
      const s = subject();
      await s.publish();
      await s.second.invalidate(s.key, 0);

      expect(await s.store.read(s.key)).toBeNull();
      expect(await s.acquire({ mode: 'probe' })).toMatchObject({ code: 'free' });
    });

    it('drops the lease, so that a load begun before can never publish', async () => {
      const s = subject();
      const token = await s.own();
      await s.second.invalidate(s.key, 0);

      await s.expectNoLease();
      expect(await s.store.renew(s.key, token, LONG)).toEqual({ held: false, contended: false });
      expect(
        await s.store.commit(s.key, { token, bytes: await s.entry(token), hardMs: LONG, rejectedId: '' }),
      ).toBe('fenced');
      expect(await s.storedBytes()).toBeNull();
    });

    it('lets the next load begin at once', async () => {
      const s = subject();
      await s.own();
      await s.store.invalidate(s.key, 0);
      await s.own();
    });

    it('of nothing is fine', async () => {
      const s = subject();
      await s.store.invalidate(s.key, 0);
      await s.store.invalidate(s.key, 0);
      expect(await s.storedBytes()).toBeNull();
    });
  });
}
