import { freshToken, LONG, type Subject } from './subject.js';

export function leaseContract(subject: () => Subject): void {
  describe('renew', () => {
    it('extends the lease of its holder', async () => {
      const s = subject();
      const token = await s.own({ leaseMs: LONG });

      expect(await s.store.renew(s.key, token, 2 * LONG)).toEqual({ held: true, contended: false });
      expect((await s.store.peek(s.key)).lease?.expiresIn).toBeGreaterThan(LONG);
    });

    it('tells that somebody waits, and only then', async () => {
      const s = subject();
      const token = await s.own();

      await s.acquire({ willWait: false }, s.second);
      expect(await s.store.renew(s.key, token, LONG)).toEqual({ held: true, contended: false });

      await s.waitFor(token);
      expect(await s.store.renew(s.key, token, LONG)).toEqual({ held: true, contended: true });
    });

    it('still tells it after somebody asked who will not wait', async () => {
      const s = subject();
      const token = await s.own();
      await s.waitFor(token);
      await s.acquire({ willWait: false }, s.second);

      expect(await s.store.renew(s.key, token, LONG)).toEqual({ held: true, contended: true });
    });

    it('does not shorten or end the lease of another', async () => {
      const s = subject();
      const token = await s.own();

      expect(await s.store.renew(s.key, freshToken(), 1)).toEqual({ held: false, contended: false });
      await s.expectHeldBy(token);
    });

    it('makes no lease where none is', async () => {
      const s = subject();
      expect(await s.store.renew(s.key, freshToken(), LONG)).toEqual({ held: false, contended: false });
      await s.expectNoLease();
    });
  });

  describe('release', () => {
    it('gives the lease back', async () => {
      const s = subject();
      const token = await s.own();

      expect(await s.store.release(s.key, { token, outcome: '' })).toBe(true);
      await s.expectNoLease();
      await s.own();
    });

    it('keeps the entry', async () => {
      const s = subject();
      await s.publishStale();
      const before = await s.storedBytes();
      const token = await s.own();

      await s.store.release(s.key, { token, outcome: 'it failed' });
      expect(await s.storedBytes()).toEqual(before);
    });

    it('answers a resend as before while something of the first is left, and changes nothing', async () => {
      const s = subject();
      await s.publishStale();
      const token = await s.own();
      await s.waitFor(token);
      const backoff = { baseMs: LONG, capMs: 10 * LONG, scale: 1 };
      const request = { token, outcome: 'it failed', backoff };
      expect(await s.store.release(s.key, request)).toBe(true);
      expect(await s.store.release(s.key, { ...request, outcome: 'another' })).toBe(true);

      expect(await s.acquire({ waitedOn: token })).toMatchObject({ code: 'outcome', outcome: 'it failed' });
      const resting = await s.acquire({ hasStale: true });
      expect(resting).toMatchObject({ code: 'resting' });
      expect(resting.code === 'resting' && resting.ms).toBeLessThanOrEqual(LONG);
    });

    it('tells a holder whose load was revoked, and does nothing', async () => {
      const s = subject();
      const token = await s.own();
      await s.store.invalidate(s.key, 0);
      expect(await s.store.release(s.key, { token, outcome: '' })).toBe(false);

      const next = await s.own();
      expect(await s.store.release(s.key, { token, outcome: 'it failed' })).toBe(false);
      await s.expectHeldBy(next);
    });

    it('tells a holder whose lease ran out', async () => {
      const s = subject();
      const token = await s.own({ leaseMs: 60 });
      await s.eventually('the lease is over', async () => (await s.store.peek(s.key)).lease === undefined);

      expect(await s.store.release(s.key, { token, outcome: 'it failed' })).toBe(false);
    });
  });
}
