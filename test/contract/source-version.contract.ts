import { freshToken, LONG, type Subject } from './subject.js';

/** A load that ends with an entry of that version. */
async function commit(s: Subject, sourceVersion: number, token: string, rejectedId = '') {
  const bytes = await s.entry(token, { sourceVersion });
  return s.store.commit(s.key, { token, bytes, hardMs: LONG, rejectedId });
}

export function sourceVersionContract(subject: () => Subject): void {
  describe('commit, by source versions', () => {
    it.each([
      [8, 7],
      [9_007_199_254_740_991, 9_007_199_254_740_990],
    ])('refuses to replace version %d by %d, writes nothing and keeps the lease', async (there, late) => {
      const s = subject();
      await s.publish({ softIn: -1_000, sourceVersion: there });
      const before = await s.storedBytes();
      const token = await s.own();
      await s.waitFor(token);

      expect(await commit(s, late, token)).toBe('older');
      expect(await s.storedBytes()).toEqual(before);
      expect((await s.store.peek(s.key)).ttlMs).toBeLessThanOrEqual(LONG);
      expect(await s.store.renew(s.key, token, LONG)).toEqual({ held: true, contended: true });

      // A resend is told the same, and the lease is given back as any other.
      expect(await commit(s, late, token)).toBe('older');
      expect(await s.store.release(s.key, { token, outcome: '' })).toBe(true);
    });

    it.each([
      ['an equal one', 7, 7],
      ['a lesser one', 7, 8],
      ['none by one', 0, 7],
      ['one by none', 7, 0],
      ['none by none', 0, 0],
    ])('replaces %s (%d by %d)', async (_name, there, next) => {
      const s = subject();
      await s.publish({ softIn: -1_000, sourceVersion: there });
      const token = await s.own();

      expect(await commit(s, next, token)).toBe('stored');
      expect(entryVersion(await s.storedBytes())).toBe(next);
    });

    it('replaces a greater version that was found unusable: a clear or a tag has ended its say', async () => {
      const s = subject();
      const there = await s.publish({ sourceVersion: 9_007_199_254_740_991 });
      const token = await s.own({ rejectedId: there });

      expect(await commit(s, 7, token, there)).toBe('stored');
      expect(entryVersion(await s.storedBytes())).toBe(7);
      // A resend finds its own entry.
      expect(await commit(s, 7, token, there)).toBe('already');
    });

    it('goes by the id byte for byte, whatever bytes it has', async () => {
      const s = subject();
      const odd = '\u0000\u00e9\u00ff'.padEnd(22, '\u00b5');
      await s.store.write(s.key, await s.entry(odd, { softIn: -1_000, sourceVersion: 8 }), LONG);
      const token = await s.own();

      expect(await commit(s, 7, token, odd.replace('\u00e9', 'e'))).toBe('older');
      expect(await commit(s, 7, token, odd)).toBe('stored');
    });

    it('is bound by the version of an entry that came in place of the rejected one', async () => {
      const s = subject();
      const rejected = await s.publish({ softIn: -1_000, sourceVersion: 8 });
      const token = await s.own({ rejectedId: rejected });
      await s.store.write(s.key, await s.entry(freshToken(), { sourceVersion: 9 }), LONG);

      expect(await commit(s, 7, token, rejected)).toBe('older');
      expect(entryVersion(await s.storedBytes())).toBe(9);
    });

    it('replaces bytes that are no entry', async () => {
      const s = subject();
      await s.store.write(s.key, Buffer.from('9'.repeat(100)), LONG);
      const token = await s.own();
      expect(await commit(s, 1, token)).toBe('stored');
    });

    it('has no say without the lease', async () => {
      const s = subject();
      await s.publish({ softIn: -1_000, sourceVersion: 8 });
      expect(await commit(s, 7, freshToken())).toBe('fenced');
    });

    it('does not bind an explicit set', async () => {
      const s = subject();
      await s.publish({ sourceVersion: 8 });
      const token = freshToken();
      const bytes = await s.entry(token, { sourceVersion: 7 });
      const notAfter = (await s.store.peek(s.key)).now + LONG;

      expect(await s.store.put(s.key, { token, bytes, hardMs: LONG, notAfter })).toBe('stored');
      expect(entryVersion(await s.storedBytes())).toBe(7);
    });
  });
}

const entryVersion = (bytes: Buffer | null): number => Number(bytes?.toString('latin1', 30, 46));
