import { freshToken, LONG, type Subject } from './subject.js';

export function expireContract(subject: () => Subject): void {
  describe('expire', () => {
    it('makes a fresh entry stale as of now, and keeps all else of it', async () => {
      const s = subject();
      await s.publish();
      const before = await s.store.peek(s.key);
      await s.second.expire(s.key);

      const after = await s.store.peek(s.key);
      const softAt = Number(after.bytes?.toString('latin1', 4, 17));
      expect(softAt).toBeGreaterThanOrEqual(before.now);
      expect(softAt).toBeLessThanOrEqual(after.now);
      expect(after.bytes?.subarray(17)).toEqual(before.bytes?.subarray(17));
      expect(after.bytes?.subarray(0, 4)).toEqual(before.bytes?.subarray(0, 4));
      expect(after.ttlMs).toBeGreaterThan(LONG / 2);
      expect(after.ttlMs).toBeLessThanOrEqual(LONG);
      expect(await s.acquire({ mode: 'probe', hasStale: true })).toMatchObject({ code: 'free' });
    });

    it('leaves an entry that was stale before as it is', async () => {
      const s = subject();
      await s.publishStale();
      const before = await s.storedBytes();
      await s.store.expire(s.key);

      expect(await s.storedBytes()).toEqual(before);
    });

    it.each(['', 'x', '1v-j' + '9'.repeat(80), '2v-j' + 'never'.repeat(20)])(
      'leaves bytes that are no entry as they are: "%s"',
      async (junk) => {
        const s = subject();
        await s.store.write(s.key, Buffer.from(junk), LONG);
        await s.store.expire(s.key);

        expect((await s.store.read(s.key))?.toString()).toBe(junk);
      },
    );

    it('does not reach into bytes that were read before', async () => {
      const s = subject();
      await s.publish();
      const read = await s.store.read(s.key);
      const before = Buffer.from(read ?? []);
      await s.store.expire(s.key);

      expect(before.length).toBeGreaterThan(0);
      expect(read).toEqual(before);
    });

    it('drops the lease, so that a load begun before can never publish', async () => {
      const s = subject();
      await s.publishStale();
      const before = await s.storedBytes();
      const token = await s.own();
      await s.second.expire(s.key);

      await s.expectNoLease();
      const bytes = await s.entry(token);
      expect(await s.store.commit(s.key, { token, bytes, hardMs: LONG, rejectedId: '' })).toBe('fenced');
      expect(await s.storedBytes()).toEqual(before);
      await s.own();
    });

    it('ends the rest after a failure', async () => {
      const s = subject();
      await s.publishStale();
      const token = await s.own();
      const backoff = { baseMs: LONG, capMs: LONG, scale: 1 };
      await s.store.release(s.key, { token, outcome: '', backoff });
      expect(await s.acquire({ hasStale: true })).toMatchObject({ code: 'resting' });
      await s.store.expire(s.key);

      expect(await s.acquire({ hasStale: true })).toMatchObject({ code: 'owner' });
    });

    it('of nothing is fine, and makes nothing', async () => {
      const s = subject();
      await s.store.expire(s.key);
      await s.store.expire(s.key);
      expect(await s.storedBytes()).toBeNull();
    });

    it('concerns its variant only', async () => {
      const s = subject();
      const other = s.ofVariant('.2');
      await s.publish();
      await other.publish();
      await other.store.expire(other.key);

      expect(await s.acquire()).toMatchObject({ code: 'hit' });
      expect(await other.acquire({ rejectedId: freshToken() })).toMatchObject({ code: 'owner' });
    });
  });
}
