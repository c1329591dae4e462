import { freshToken, LONG, type Subject } from './subject.js';

async function putRequest(s: Subject, { notAfterIn = LONG, hardMs = LONG } = {}) {
  const token = freshToken();
  const bytes = await s.entry(token, { payload: 'set by hand' });
  return { token, bytes, hardMs, notAfter: (await s.store.peek(s.key)).now + notAfterIn };
}

export function putContract(subject: () => Subject): void {
  describe('put', () => {
    it('stores the entry for its hard life', async () => {
      const s = subject();
      await s.publishStale();
      const request = await putRequest(s, { hardMs: 2 * LONG });

      expect(await s.store.put(s.key, request)).toBe('stored');
      const facts = await s.second.peek(s.key);
      expect(facts.bytes).toEqual(request.bytes);
      expect(facts.ttlMs).toBeGreaterThan(LONG);
      expect(await s.acquire()).toMatchObject({ code: 'hit' });
    });

    it('revokes a running load: its lease is gone and it cannot publish', async () => {
      const s = subject();
      const token = await s.own();
      const request = await putRequest(s);
      expect(await s.second.put(s.key, request)).toBe('stored');

      await s.expectNoLease();
      expect(await s.store.renew(s.key, token, LONG)).toEqual({ held: false, contended: false });
      expect(
        await s.store.commit(s.key, { token, bytes: await s.entry(token), hardMs: LONG, rejectedId: '' }),
      ).toBe('fenced');
      expect(await s.storedBytes()).toEqual(request.bytes);
    });

    it('is "late" past its time, and does nothing', async () => {
      const s = subject();
      await s.publishStale();
      const before = await s.storedBytes();
      const token = await s.own();

      expect(await s.store.put(s.key, await putRequest(s, { notAfterIn: -1 }))).toBe('late');
      expect(await s.storedBytes()).toEqual(before);
      await s.expectHeldBy(token);
    });

    it('answers a resend as before', async () => {
      const s = subject();
      const request = await putRequest(s);
      await s.store.put(s.key, request);

      expect(await s.store.put(s.key, request)).toBe('stored');
      expect(await s.storedBytes()).toEqual(request.bytes);
    });
  });
}
