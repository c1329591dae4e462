import type { Store, Wake } from '../../lib/core/store.js';
import { freshToken, LONG, Subject } from './subject.js';

/** Every way in which a load ends, and what those who wait are told. */
const ENDS: readonly [string, Wake['kind'], (s: Subject, token: string, by: Store) => Promise<unknown>][] = [
  [
    'commit',
    'published',
    async (s, token, by) =>
      by.commit(s.key, { token, bytes: await s.entry(token), hardMs: LONG, rejectedId: '' }),
  ],
  ['release', 'ended', (s, token, by) => by.release(s.key, { token, outcome: 'it failed' })],
  ['invalidate', 'invalidated', (s, _token, by) => by.invalidate(s.key, 0)],
  ['invalidate with a hold-off', 'invalidated', (s, _token, by) => by.invalidate(s.key, LONG)],
  ['expire', 'invalidated', (s, _token, by) => by.expire(s.key)],
  [
    'put',
    'published',
    async (s, _token, by) => {
      const token = freshToken();
      const bytes = await s.entry(token);
      return by.put(s.key, { token, bytes, hardMs: LONG, notAfter: (await by.peek(s.key)).now + LONG });
    },
  ],
  [
    'touch',
    'published',
    async (s, token, by) => {
      const entryId = freshToken();
      await by.write(s.key, await s.entry(entryId, { softIn: -1_000 }), LONG);
      return by.touch(s.key, { token, entryId, head: await s.entry(token, { payload: '' }), hardMs: LONG });
    },
  ],
];

export function wakeContract(subject: () => Subject): void {
  describe.each(ENDS)('the wake-up after %s', (name, kind, end) => {
    it(`says "${kind}", once, to those who wait`, async () => {
      const s = subject();
      const log = await s.listen();
      const token = await s.own();
      await s.waitFor(token);
      await end(s, token, s.store);

      expect(await s.onlyWake(log)).toMatchObject({ kind });
    });

    it('reaches the waiters of the client that ended the load, too', async () => {
      const s = subject();
      const log = await s.listen(s.store);
      const token = await s.own();
      await s.acquire({ willWait: true });
      await end(s, token, s.store);

      expect(await s.onlyWake(log)).toMatchObject({ kind });
    });

    const isChange = /^(invalidate|expire|put)/.test(name);
    it(isChange ? 'is sent, whoever waits' : 'is not sent when nobody waits', async () => {
      const s = subject();
      const log = await s.listen();
      const token = await s.own();
      await s.acquire({ willWait: false }, s.second);
      await end(s, token, s.store);

      if (isChange) return expect(await s.onlyWake(log)).toMatchObject({ kind });
      await s.flushWakes();
      expect(log.wakes).toEqual([]);
    });
  });

  describe('wake-ups', () => {
    it.each(['it failed', ''])('after a failed load carry its token and outcome ("%s")', async (outcome) => {
      const s = subject();
      const log = await s.listen();
      const token = await s.own();
      await s.waitFor(token);
      await s.store.release(s.key, { token, outcome });

      expect(await s.onlyWake(log)).toEqual({ kind: 'ended', token, outcome });
    });

    it('are sent by an acquire that comes again and the load that ends after it', async () => {
      const s = subject();
      const log = await s.listen();
      const token = await s.own();
      await s.waitFor(token);
      await s.own({ token });
      await s.store.release(s.key, { token, outcome: '' });

      expect(await s.onlyWake(log)).toMatchObject({ kind: 'ended', token });
    });

    it('are not sent by what changes nothing: a fenced commit, a late put, a foreign release', async () => {
      const s = subject();
      const log = await s.listen();
      const token = await s.own();
      await s.waitFor(token);
      const stranger = freshToken();
      const bytes = await s.entry(stranger);
      const { now } = await s.store.peek(s.key);
      expect(await s.store.commit(s.key, { token: stranger, bytes, hardMs: LONG, rejectedId: '' })).toBe(
        'fenced',
      );
      expect(await s.store.put(s.key, { token: stranger, bytes, hardMs: LONG, notAfter: now - 1 })).toBe(
        'late',
      );
      expect(await s.store.release(s.key, { token: stranger, outcome: 'it failed' })).toBe(false);
      await s.store.write(s.key, bytes, LONG);

      await s.flushWakes();
      expect(log.wakes).toEqual([]);
    });

    it('do not carry over: the next lease is contended only by those who wait for it', async () => {
      const s = subject();
      const first = await s.own();
      await s.waitFor(first);
      await s.store.release(s.key, { token: first, outcome: '' });
      const next = await s.own();

      expect(await s.store.renew(s.key, next, LONG)).toEqual({ held: true, contended: false });
    });

    it('reach every listener of the key, and no cancelled one', async () => {
      const s = subject();
      const [kept, cancelled, alsoKept] = [await s.listen(), await s.listen(), await s.listen()];
      cancelled.cancel();
      cancelled.cancel();
      const token = await s.own();
      await s.waitFor(token);
      await s.store.invalidate(s.key, 0);

      expect(await s.onlyWake(kept)).toEqual({ kind: 'invalidated' });
      expect(await s.onlyWake(alsoKept)).toEqual({ kind: 'invalidated' });
      expect(cancelled.wakes).toEqual([]);
    });

    it('reach no listener of another key', async () => {
      const s = subject();
      const log = await s.listen();
      await s.own();
      await s.flushWakes();
      expect(log.wakes).toEqual([]);
    });

    it('reach no listener of another variant', async () => {
      const s = subject();
      const [plain, one, other] = [s, s.ofVariant('.1'), s.ofVariant('.2')];
      const logs = [await plain.listen(), await other.listen()];
      const log = await one.listen();
      const token = await one.own();
      await one.waitFor(token);
      await one.store.release(one.key, { token, outcome: '' });

      expect(await one.onlyWake(log)).toMatchObject({ kind: 'ended', token });
      expect(logs.map(({ wakes }) => wakes)).toEqual([[], []]);
    });

    it('are never delivered inside the call that causes them', async () => {
      const s = subject();
      let inside = false;
      const seen: boolean[] = [];
      const log = await s.listen(s.store);
      s.store.listen(s.key, ({ kind }) => {
        if (kind === 'invalidated') seen.push(inside);
      });
      const token = await s.own();
      await s.waitFor(token);

      inside = true;
      const ending = s.store.invalidate(s.key, 0);
      inside = false;
      await ending;

      await s.onlyWake(log);
      expect(seen).toEqual([false]);
    });

    it('are not missed by whoever listened before it asked, in whatever order the ends meet', async () => {
      const s = subject();
      let waited = 0;
      for (let round = 0; round < 40; round++) {
        const one = s.another();
        const token = await one.own();
        const log = await one.listen();
        const ask = () => one.acquire({ willWait: true }, one.second);
        const end = () => one.store.release(one.key, { token, outcome: '' });

        const [reply] =
          round % 2 === 0 ? await Promise.all([ask(), end()]) : (await Promise.all([end(), ask()])).reverse();

        if (typeof reply === 'object' && reply.code === 'wait') {
          waited++;
          await one.eventually('the waiter is woken', () => log.wakes.length > 0);
        } else {
          expect(reply).toMatchObject({ code: 'owner' });
        }
        log.cancel();
      }
      expect(waited).toBeGreaterThan(0);
    });
  });
}
