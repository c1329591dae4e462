import { freshToken, LONG, type Subject } from './subject.js';

async function expectHeldOff(s: Subject, atMost: number, moreThan = 0): Promise<void> {
  const reply = await s.acquire({ mode: 'probe' }, s.second);
  expect(reply).toMatchObject({ code: 'heldOff' });
  if (reply.code !== 'heldOff') return;
  expect(reply.ms).toBeLessThanOrEqual(atMost);
  expect(reply.ms).toBeGreaterThan(moreThan);
}

async function put(s: Subject, softIn = LONG): Promise<string> {
  const token = freshToken();
  const bytes = await s.entry(token, { softIn });
  const notAfter = (await s.store.peek(s.key)).now + LONG;
  expect(await s.store.put(s.key, { token, bytes, hardMs: LONG, notAfter })).toBe('stored');
  return token;
}

export function holdOffContract(subject: () => Subject): void {
  describe('an invalidation with a hold-off', () => {
    it('drops the entry and the lease at once', async () => {
      const s = subject();
      await s.publishStale();
      const token = await s.own();
      await s.store.invalidate(s.key, LONG);

      expect(await s.storedBytes()).toBeNull();
      expect(await s.store.renew(s.key, token, LONG)).toEqual({ held: false, contended: false });
      const bytes = await s.entry(token);
      expect(await s.store.commit(s.key, { token, bytes, hardMs: LONG, rejectedId: '' })).toBe('fenced');
      expect(await s.store.release(s.key, { token, outcome: 'it failed' })).toBe(false);
      await expectHeldOff(s, LONG, LONG / 2);
    });

    it.each(['load', 'refresh', 'probe'] as const)('grants no lease to a %s', async (mode) => {
      const s = subject();
      await s.store.invalidate(s.key, LONG);

      expect(await s.acquire({ mode, hasStale: true, willWait: true })).toMatchObject({ code: 'heldOff' });
    });

    it('is no lease for who inspects', async () => {
      const s = subject();
      await s.store.invalidate(s.key, LONG);
      await s.expectNoLease();
    });

    it('ends', async () => {
      const s = subject();
      await s.store.invalidate(s.key, 60);
      await expectHeldOff(s, 60);

      await s.eventually('a lease is granted', async () => (await s.acquire()).code === 'owner');
    });

    it('is extended by a longer one', async () => {
      const s = subject();
      await s.store.invalidate(s.key, LONG);
      await s.store.invalidate(s.key, 3 * LONG);
      await expectHeldOff(s, 3 * LONG, LONG);
    });

    it('ends the rest after a failure, as each invalidation does', async () => {
      const s = subject();
      await s.publishStale();
      const token = await s.own();
      const backoff = { baseMs: 5 * LONG, capMs: 5 * LONG, scale: 1 };
      await s.store.release(s.key, { token, outcome: '', backoff });
      await s.store.invalidate(s.key, 60);

      await s.eventually('a lease is granted', async () => (await s.acquire()).code === 'owner');
    });

    const changes: [string, (s: Subject) => Promise<unknown>][] = [
      ['an invalidation without one', (s) => s.store.invalidate(s.key, 0)],
      ['an invalidation with a shorter one', (s) => s.store.invalidate(s.key, 60)],
      ['an explicit set', (s) => put(s)],
      ['an expiry', (s) => s.store.expire(s.key)],
      ['a write without a fence', async (s) => s.store.write(s.key, await s.entry(freshToken()), LONG)],
      ['a release by nobody', (s) => s.store.release(s.key, { token: freshToken(), outcome: 'x' })],
      ['a renewal by nobody', (s) => s.store.renew(s.key, freshToken(), 1)],
    ];
    it.each(changes)('is not shortened by %s', async (_name, change) => {
      const s = subject();
      await s.store.invalidate(s.key, LONG);
      await change(s);
      await s.store.invalidate(s.key, 0);

      await expectHeldOff(s, LONG, LONG / 2);
    });

    it('lets an explicit set be read all the same, and nothing once that is stale', async () => {
      const s = subject();
      await s.store.invalidate(s.key, LONG);
      const id = await put(s);
      expect(await s.acquire()).toMatchObject({ code: 'hit' });
      expect(await s.acquire({ rejectedId: id })).toMatchObject({ code: 'heldOff' });

      await s.store.expire(s.key);
      expect(await s.acquire({ hasStale: true })).toMatchObject({ code: 'heldOff' });
    });

    it('concerns its key and variant only', async () => {
      const s = subject();
      await s.store.invalidate(s.key, LONG);

      await s.another().own();
      await s.ofVariant('.1').own();
    });
  });
}
