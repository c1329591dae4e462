import { freshKey, freshToken, LONG, type Subject } from './subject.js';

export function readContract(subject: () => Subject): void {
  describe('reading', () => {
    it('finds nothing under a key that was never written', async () => {
      const { store, key } = subject();

      expect(await store.read(key)).toBeNull();
      const facts = await store.peek(key);
      expect(facts).toMatchObject({ bytes: null, ttlMs: 0 });
      expect(facts.lease).toBeUndefined();
    });

    it('returns the bytes as they were written, on every client', async () => {
      const s = subject();
      const token = await s.own();
      const noise = Buffer.alloc(200_000, Buffer.from([0, 255, 13, 10, 0xc3, 0x28]));
      const bytes = Buffer.concat([await s.entry(token, { payload: '' }), noise]);
      await s.store.commit(s.key, { token, bytes, hardMs: LONG, rejectedId: '' });

      expect(bytes.equals((await s.store.read(s.key)) ?? Buffer.alloc(0))).toBe(true);
      expect(bytes.equals((await s.second.read(s.key)) ?? Buffer.alloc(0))).toBe(true);
    });

    it('judges nothing: a stale entry and bytes that are no entry are read as they are', async () => {
      const s = subject();
      await s.store.write(s.key, Buffer.from('not an entry'), LONG);
      expect(await s.store.read(s.key)).toEqual(Buffer.from('not an entry'));

      const stale = await s.entry(freshToken(), { softIn: -5_000 });
      await s.store.write(s.key, stale, LONG);
      expect(await s.store.read(s.key)).toEqual(stale);
    });

    it('finds nothing once the entry has outlived its hard expiry', async () => {
      const s = subject();
      await s.publish({ hardMs: 60 });

      await s.eventually('the entry is gone', async () => (await s.store.read(s.key)) === null);

      expect(await s.store.peek(s.key)).toMatchObject({ bytes: null, ttlMs: 0 });
      // Soft it would be fresh still.
      expect(await s.acquire()).toMatchObject({ code: 'owner' });
    });

    it('keeps the entries of two keys apart', async () => {
      const s = subject();
      const other = freshKey();
      await s.publish();
      expect(await s.store.read(other)).toBeNull();

      await s.store.invalidate(other, 0);
      expect(await s.store.read(s.key)).not.toBeNull();
    });
  });

  describe('variants of a key', () => {
    it('have entries and leases of their own', async () => {
      const s = subject();
      const [one, other] = [s.ofVariant('.1'), s.ofVariant('.2')];
      const id = await one.publish();
      const token = await other.own();

      expect((await one.storedBytes())?.toString('latin1')).toContain(id);
      expect(await s.storedBytes()).toBeNull();
      expect(await other.storedBytes()).toBeNull();
      expect(await one.acquire()).toMatchObject({ code: 'hit' });
      expect(await s.acquire({ mode: 'probe' })).toMatchObject({ code: 'free' });

      await one.store.invalidate(one.key, 0);
      await other.expectHeldBy(token);
      expect(await one.storedBytes()).toBeNull();
    });

    it('are not mistaken for a longer id', async () => {
      const s = subject();
      const long = s.withKey({ ...s.key, id: `${s.key.id}.1` });
      await s.ofVariant('.1').publish();

      expect(await long.storedBytes()).toBeNull();
    });
  });

  describe('peek', () => {
    it('tells the entry and its remaining life', async () => {
      const s = subject();
      const id = await s.publish({ hardMs: LONG });

      const facts = await s.store.peek(s.key);

      expect(facts.bytes?.toString('latin1')).toContain(id);
      expect(facts.ttlMs).toBeGreaterThan(LONG / 2);
      expect(facts.ttlMs).toBeLessThanOrEqual(LONG);
      expect(facts.lease).toBeUndefined();
    });

    it('tells who holds the lease, since when and for how long', async () => {
      const s = subject();
      const before = (await s.store.peek(s.key)).now;
      await s.own({ holder: 'web-7/4711', leaseMs: LONG });
      await s.acquire({ willWait: true, holder: 'web-8/1' });

      const { lease, now } = await s.second.peek(s.key);

      expect(lease?.holder).toBe('web-7/4711');
      expect(lease?.since).toBeGreaterThanOrEqual(before);
      expect(lease?.since).toBeLessThanOrEqual(now);
      expect(lease?.expiresIn).toBeGreaterThan(LONG / 2);
      expect(lease?.expiresIn).toBeLessThanOrEqual(LONG);
    });

    it('shows no lease where an ended load left only its outcome or a rest', async () => {
      const s = subject();
      await s.publishStale();
      const token = await s.own();
      await s.waitFor(token);
      await s.store.release(s.key, {
        token,
        outcome: 'it failed',
        backoff: { baseMs: LONG, capMs: LONG, scale: 1 },
      });

      await s.expectNoLease();
    });
  });

  describe('time', () => {
    it('is an integer in epoch milliseconds, and the one that replies carry', async () => {
      const s = subject();
      await s.publish();
      const before = s.store.now();
      const { now } = await s.acquire();
      const after = s.store.now();

      expect(String(now)).toMatch(/^\d{13}$/);
      expect(String(after)).toMatch(/^\d{13}$/);
      // A client of a server knows its time up to what a reply took.
      expect(now).toBeGreaterThanOrEqual(before - 1_000);
      expect(now).toBeLessThanOrEqual(after + 1_000);
    });

    it('goes on', async () => {
      const s = subject();
      const { now } = await s.store.peek(s.key);
      await s.advance(20);
      expect((await s.store.peek(s.key)).now).toBeGreaterThanOrEqual(now + 20);
    });
  });
}
