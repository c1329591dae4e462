import { freshToken, LONG, type Subject } from './subject.js';

const BASE = 100_000;

/** A load that ends in failure while a stale entry is there. */
async function fail(
  s: Subject,
  over: { baseMs?: number; capMs?: number; scale?: number } = {},
): Promise<void> {
  // Nothing stale in hand: the rest does not bind this one.
  const token = await s.own({ hasStale: false });
  const backoff = { baseMs: BASE, capMs: 10 * BASE, scale: 1, ...over };
  expect(await s.store.release(s.key, { token, outcome: '', backoff })).toBe(true);
}

async function expectRest(s: Subject, ms: number): Promise<void> {
  const reply = await s.acquire({ hasStale: true, mode: 'refresh' }, s.second);
  expect(reply).toMatchObject({ code: 'resting' });
  if (reply.code !== 'resting') return;
  expect(reply.ms).toBeLessThanOrEqual(ms);
  expect(reply.ms).toBeGreaterThan(ms - BASE / 4);
}

export function backoffContract(subject: () => Subject): void {
  describe('the rest after a failure', () => {
    it('binds those who hold a stale value, in every mode', async () => {
      const s = subject();
      await s.publishStale();
      await fail(s);

      await expectRest(s, BASE);
      expect(await s.acquire({ hasStale: true, mode: 'load' })).toMatchObject({ code: 'resting' });
      expect(await s.acquire({ hasStale: true, mode: 'probe' })).toMatchObject({ code: 'resting' });
      await s.expectNoLease();
    });

    it('does not bind those who have nothing else', async () => {
      const s = subject();
      await s.publishStale();
      await fail(s);

      expect(await s.acquire({ hasStale: false, mode: 'probe' })).toMatchObject({ code: 'free' });
      expect(await s.acquire({ hasStale: false })).toMatchObject({ code: 'owner' });
    });

    it('doubles with each failure up to its cap, and not beyond', async () => {
      const s = subject();
      await s.publishStale();
      for (const rest of [BASE, 2 * BASE, 3 * BASE, 3 * BASE]) {
        await fail(s, { capMs: 3 * BASE });
        await expectRest(s, rest);
      }
    });

    it('is scaled after the cap', async () => {
      const s = subject();
      await s.publishStale();
      for (const rest of [BASE / 2, BASE, 1.5 * BASE]) {
        await fail(s, { capMs: 3 * BASE, scale: 0.5 });
        await expectRest(s, rest);
      }
    });

    it('ends, and its count outlives it', async () => {
      const s = subject();
      await s.publishStale();
      await fail(s, { baseMs: 40 });

      const free = async () => (await s.acquire({ hasStale: true, mode: 'probe' })).code === 'free';
      await s.eventually('the rest is over', free);
      // Well beyond the length of that rest, too.
      await s.advance(200);

      const token = await s.own({ hasStale: true });
      await s.store.release(s.key, {
        token,
        outcome: '',
        backoff: { baseMs: BASE, capMs: 10 * BASE, scale: 1 },
      });
      await expectRest(s, 2 * BASE);
    });

    it('survives a resend of the acquire that follows it', async () => {
      const s = subject();
      await s.publishStale();
      await fail(s);
      const token = await s.own();
      await s.own({ token });
      await s.waitFor(token);
      await s.store.renew(s.key, token, LONG);
      await s.store.release(s.key, {
        token,
        outcome: '',
        backoff: { baseMs: BASE, capMs: 10 * BASE, scale: 1 },
      });

      await expectRest(s, 2 * BASE);
    });

    it('is forgotten with the next entry', async () => {
      const s = subject();
      await s.publishStale();
      await fail(s);
      await fail(s);
      await s.publishStale();
      expect(await s.acquire({ hasStale: true, mode: 'probe' })).toMatchObject({ code: 'free' });

      await fail(s);
      await expectRest(s, BASE);
    });

    it('is forgotten with an explicit set', async () => {
      const s = subject();
      await s.publishStale();
      await fail(s);
      await fail(s);
      const token = freshToken();
      const bytes = await s.entry(token, { softIn: -1_000 });
      await s.store.put(s.key, {
        token,
        bytes,
        hardMs: LONG,
        notAfter: (await s.store.peek(s.key)).now + LONG,
      });

      await fail(s);
      await expectRest(s, BASE);
    });

    it('is forgotten with an invalidation', async () => {
      const s = subject();
      await s.publishStale();
      await fail(s);
      await fail(s);
      await s.store.invalidate(s.key, 0);
      await s.store.write(s.key, await s.entry(freshToken(), { softIn: -1_000 }), LONG);
      expect(await s.acquire({ hasStale: true, mode: 'probe' })).toMatchObject({ code: 'free' });

      await fail(s);
      await expectRest(s, BASE);
    });

    it('is not taken where no entry is stored', async () => {
      const s = subject();
      await fail(s);

      expect(await s.acquire({ hasStale: true })).toMatchObject({ code: 'owner' });
    });

    it('is not taken where the release asks for none', async () => {
      const s = subject();
      await s.publishStale();
      const token = await s.own();
      await s.store.release(s.key, { token, outcome: 'it failed' });

      expect(await s.acquire({ hasStale: true })).toMatchObject({ code: 'owner' });
    });

    it('leaves the outcome for those who waited', async () => {
      const s = subject();
      await s.publishStale();
      const token = await s.own();
      await s.waitFor(token);
      await s.store.release(s.key, {
        token,
        outcome: 'it failed',
        backoff: { baseMs: BASE, capMs: BASE, scale: 1 },
      });

      const outcome = { code: 'outcome', outcome: 'it failed' };
      expect(await s.acquire({ waitedOn: token }, s.second)).toMatchObject(outcome);
      await expectRest(s, BASE);
    });
  });
}
