import { freshToken, LONG, type Subject } from './subject.js';

export function acquireContract(subject: () => Subject): void {
  describe('acquire, with an entry there', () => {
    it.each(['load', 'refresh', 'probe'] as const)(
      'is a hit for a %s while the entry is fresh',
      async (mode) => {
        const s = subject();
        await s.publish();

        expect(await s.acquire({ mode })).toMatchObject({ code: 'hit' });
        await s.expectNoLease();
      },
    );

    it('grants the lease once the soft expiry is reached', async () => {
      const s = subject();
      await s.publish({ softIn: 80 });

      let last = '';
      await s.eventually('the entry is stale', async () => {
        last = (await s.acquire()).code;
        return last !== 'hit';
      });
      expect(last).toBe('owner');
    });

    it('judges the soft expiry by the time of the reply', async () => {
      const s = subject();
      await s.publish({ softIn: 80 });
      const softAt = Number((await s.storedBytes())?.toString('latin1', 4, 17));

      await s.eventually('the entry is stale', async () => {
        const { code, now } = await s.acquire({ mode: 'probe' });
        expect(code).toBe(now < softAt ? 'hit' : 'free');
        return code === 'free';
      });
    });

    it('passes over exactly the entry that the caller rejects', async () => {
      const s = subject();
      const id = await s.publish();

      expect(await s.acquire({ rejectedId: freshToken() })).toMatchObject({ code: 'hit' });
      expect(await s.acquire({ rejectedId: id })).toMatchObject({ code: 'owner' });
    });

    it('is a hit again for whoever rejects the entry that was replaced meanwhile', async () => {
      const s = subject();
      const rejectedId = await s.publish();
      const token = await s.own({ rejectedId });
      await s.store.commit(s.key, { token, bytes: await s.entry(token), hardMs: LONG, rejectedId: '' });

      expect(await s.acquire({ rejectedId })).toMatchObject({ code: 'hit' });
    });

    it.each(['', 'x', '9'.repeat(80), '2v-j' + 'never'.repeat(20)])(
      'grants the lease over bytes that are no entry: "%s"',
      async (junk) => {
        const s = subject();
        await s.store.write(s.key, Buffer.from(junk), LONG);

        expect(await s.acquire()).toMatchObject({ code: 'owner' });
      },
    );
  });

  describe('acquire, without a usable entry', () => {
    it('makes the first one owner and tells everybody else to wait for its token', async () => {
      const s = subject();
      const token = await s.own({ leaseMs: LONG });

      for (const [mode, store] of [
        ['load', s.store],
        ['refresh', s.second],
      ] as const) {
        const reply = await s.acquire({ mode }, store);
        expect(reply).toMatchObject({ code: 'wait', token });
        if (reply.code !== 'wait') continue;
        expect(reply.ms).toBeGreaterThan(LONG / 2);
        expect(reply.ms).toBeLessThanOrEqual(LONG);
      }
    });

    it('lets exactly one of many win', async () => {
      const s = subject();
      const replies = await Promise.all(
        Array.from({ length: 40 }, (_, at) => s.acquire({}, at % 2 === 0 ? s.store : s.second)),
      );

      expect(replies.filter(({ code }) => code === 'owner')).toHaveLength(1);
      expect(replies.filter(({ code }) => code === 'wait')).toHaveLength(39);
    });

    it('answers a resend as before, and renews the lease', async () => {
      const s = subject();
      const token = await s.own({ leaseMs: LONG });
      await s.own({ token, leaseMs: 2 * LONG });

      expect((await s.store.peek(s.key)).lease?.expiresIn).toBeGreaterThan(LONG);
    });

    it('keeps the contended mark on a resend', async () => {
      const s = subject();
      const token = await s.own();
      await s.waitFor(token);
      await s.own({ token });

      expect(await s.store.renew(s.key, token, LONG)).toEqual({ held: true, contended: true });
    });

    it('lets the lease go when its time is over', async () => {
      const s = subject();
      const token = await s.own({ leaseMs: 80 });

      await s.eventually(
        'the lease is free',
        async () => (await s.acquire({ mode: 'probe' })).code === 'free',
      );

      const next = await s.own();
      expect(await s.store.renew(s.key, token, LONG)).toEqual({ held: false, contended: false });
      await s.expectHeldBy(next);
    });
  });

  describe('a probe', () => {
    it('takes nothing', async () => {
      const s = subject();
      expect(await s.acquire({ mode: 'probe' })).toMatchObject({ code: 'free' });
      await s.expectNoLease();
    });

    it('tells of a stale entry without a lease that the way is free', async () => {
      const s = subject();
      await s.publishStale();
      expect(await s.acquire({ mode: 'probe' })).toMatchObject({ code: 'free' });
    });

    it.each([true, false])('marks a held lease as contended if it will wait (%s)', async (willWait) => {
      const s = subject();
      const token = await s.own();

      expect(await s.acquire({ mode: 'probe', willWait }, s.second)).toMatchObject({ code: 'wait', token });
      expect(await s.store.renew(s.key, token, LONG)).toEqual({ held: true, contended: willWait });
    });
  });
}
