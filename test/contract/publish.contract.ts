import { freshToken, LONG, type Subject } from './subject.js';

export function publishContract(subject: () => Subject): void {
  describe('commit', () => {
    it('stores the entry under the lease, for its hard life, and drops the lease', async () => {
      const s = subject();
      const token = await s.own();
      const bytes = await s.entry(token);

      expect(await s.store.commit(s.key, { token, bytes, hardMs: LONG, rejectedId: '' })).toBe('stored');

      const facts = await s.second.peek(s.key);
      expect(facts.bytes).toEqual(bytes);
      expect(facts.ttlMs).toBeGreaterThan(LONG / 2);
      expect(facts.ttlMs).toBeLessThanOrEqual(LONG);
      expect(facts.lease).toBeUndefined();
    });

    it('replaces an earlier entry and its life', async () => {
      const s = subject();
      await s.publish({ softIn: -1_000, hardMs: LONG });
      const token = await s.own();
      const bytes = await s.entry(token, { payload: 'the newer value' });
      await s.store.commit(s.key, { token, bytes, hardMs: 2 * LONG, rejectedId: '' });

      expect(await s.storedBytes()).toEqual(bytes);
      expect((await s.store.peek(s.key)).ttlMs).toBeGreaterThan(LONG);
    });

    it('answers a resend with "already", and leaves a lease that was granted since', async () => {
      const s = subject();
      const token = await s.own();
      const commit = { token, bytes: await s.entry(token), hardMs: LONG, rejectedId: '' };
      await s.store.commit(s.key, commit);
      expect(await s.store.commit(s.key, commit)).toBe('already');

      const next = await s.own({ rejectedId: token });
      expect(await s.store.commit(s.key, commit)).toBe('already');
      await s.expectHeldBy(next);
    });

    it('is fenced without a lease, and writes nothing', async () => {
      const s = subject();
      const token = freshToken();

      expect(
        await s.store.commit(s.key, { token, bytes: await s.entry(token), hardMs: LONG, rejectedId: '' }),
      ).toBe('fenced');
      expect(await s.storedBytes()).toBeNull();
    });

    it('is fenced after its lease ran out, and changes neither the entry nor the next lease', async () => {
      const s = subject();
      await s.publishStale();
      const before = await s.storedBytes();
      const late = await s.own({ leaseMs: 60 });
      const bytes = await s.entry(late);
      await s.eventually('the lease is over', async () => (await s.store.peek(s.key)).lease === undefined);
      expect(await s.store.commit(s.key, { token: late, bytes, hardMs: 10 * LONG, rejectedId: '' })).toBe(
        'fenced',
      );

      const next = await s.own();
      expect(await s.second.commit(s.key, { token: late, bytes, hardMs: 10 * LONG, rejectedId: '' })).toBe(
        'fenced',
      );
      expect(await s.storedBytes()).toEqual(before);
      expect((await s.store.peek(s.key)).ttlMs).toBeLessThanOrEqual(LONG);
      await s.expectHeldBy(next);
    });

    it('is fenced after an invalidation, though a new load has published since', async () => {
      const s = subject();
      const revoked = await s.own();
      await s.store.invalidate(s.key, 0);
      const winner = await s.publish();

      const bytes = await s.entry(revoked, { payload: 'older' });
      expect(await s.store.commit(s.key, { token: revoked, bytes, hardMs: LONG, rejectedId: '' })).toBe(
        'fenced',
      );
      expect((await s.storedBytes())?.toString('latin1')).toContain(winner);
    });
  });

  describe('write', () => {
    it('stores without a lease, for its hard life', async () => {
      const s = subject();
      const bytes = await s.entry(freshToken());
      await s.store.write(s.key, bytes, LONG);

      const facts = await s.second.peek(s.key);
      expect(facts.bytes).toEqual(bytes);
      expect(facts.ttlMs).toBeGreaterThan(LONG / 2);
      expect(facts.ttlMs).toBeLessThanOrEqual(LONG);
    });

    it('leaves a held lease alone: its holder may still publish', async () => {
      const s = subject();
      const token = await s.own();
      await s.waitFor(token);
      await s.second.write(s.key, await s.entry(freshToken()), LONG);

      expect(await s.store.renew(s.key, token, LONG)).toEqual({ held: true, contended: true });
      const bytes = await s.entry(token);
      expect(await s.store.commit(s.key, { token, bytes, hardMs: LONG, rejectedId: '' })).toBe('stored');
      expect(await s.storedBytes()).toEqual(bytes);
    });
  });
}
