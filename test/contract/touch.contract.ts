import { freshToken, LONG, type Subject } from './subject.js';

/** A stale entry, and the lease to refresh it. */
async function staleAndOwned(s: Subject) {
  const entryId = await s.publishStale();
  const token = await s.own();
  const head = await s.entry(token, { payload: '' });
  return { entryId, token, touch: { token, entryId, head, hardMs: 2 * LONG } };
}

export function touchContract(subject: () => Subject): void {
  describe('touch', () => {
    it('gives the entry a new head and a new life, keeps the rest, and drops the lease', async () => {
      const s = subject();
      const { token, touch } = await staleAndOwned(s);

      expect(await s.store.touch(s.key, touch)).toBe('stored');

      const facts = await s.second.peek(s.key);
      expect(facts.bytes).toEqual(Buffer.concat([touch.head, Buffer.from('a value')]));
      expect(facts.bytes?.toString('latin1', 46, 68)).toBe(token);
      expect(facts.ttlMs).toBeGreaterThan(LONG);
      expect(facts.lease).toBeUndefined();
      expect(await s.acquire()).toMatchObject({ code: 'hit' });
    });

    it('does not reach into bytes that were read before', async () => {
      const s = subject();
      const { touch } = await staleAndOwned(s);
      const read = await s.store.read(s.key);
      const before = Buffer.from(read ?? []);
      await s.store.touch(s.key, touch);

      expect(before.length).toBeGreaterThan(0);
      expect(read).toEqual(before);
    });

    it('answers a resend with "already", and leaves a lease that was granted since', async () => {
      const s = subject();
      const { token, touch } = await staleAndOwned(s);
      await s.store.touch(s.key, touch);
      const touched = await s.storedBytes();
      expect(await s.store.touch(s.key, touch)).toBe('already');

      const next = await s.own({ rejectedId: token });
      expect(await s.store.touch(s.key, touch)).toBe('already');
      expect(await s.storedBytes()).toEqual(touched);
      await s.expectHeldBy(next);
    });

    it('is fenced without the lease, and changes nothing', async () => {
      const s = subject();
      const { entryId, touch } = await staleAndOwned(s);
      const before = await s.storedBytes();
      const stranger = freshToken();
      const head = await s.entry(stranger, { payload: '' });

      expect(await s.store.touch(s.key, { token: stranger, entryId, head, hardMs: 5 * LONG })).toBe('fenced');
      expect(await s.storedBytes()).toEqual(before);
      expect((await s.store.peek(s.key)).ttlMs).toBeLessThanOrEqual(LONG);
      await s.expectHeldBy(touch.token);
    });

    it('is fenced after an invalidation, and brings nothing back', async () => {
      const s = subject();
      const { touch } = await staleAndOwned(s);
      await s.store.invalidate(s.key, 0);

      expect(await s.store.touch(s.key, touch)).toBe('fenced');
      expect(await s.storedBytes()).toBeNull();
    });

    it('tells when another entry is there, and keeps the lease for a real load', async () => {
      const s = subject();
      const { token, touch } = await staleAndOwned(s);
      const other = await s.entry(freshToken(), { softIn: -1_000 });
      await s.store.write(s.key, other, LONG);

      expect(await s.store.touch(s.key, touch)).toBe('gone');
      expect(await s.storedBytes()).toEqual(other);
      await s.expectHeldBy(token);
    });

    it('tells when no entry is there any more, and keeps the lease for a real load', async () => {
      const s = subject();
      const entryId = await s.publish({ softIn: -1_000, hardMs: 60 });
      const token = await s.own();
      await s.eventually('the entry is gone', async () => (await s.storedBytes()) === null);
      const head = await s.entry(token, { payload: '' });

      expect(await s.store.touch(s.key, { token, entryId, head, hardMs: LONG })).toBe('gone');
      expect(await s.storedBytes()).toBeNull();
      await s.expectHeldBy(token);
    });
  });
}
