import { freshToken, type Subject } from './subject.js';

export function outcomeContract(subject: () => Subject): void {
  describe('the outcome of a load that ended without an entry', () => {
    // Anything that text may hold.
    const outcome = '{"name":"Überlast, \\"so\\"","n":1}\n\u2028 :;|';

    it('is found by those who were told to wait for it', async () => {
      const s = subject();
      const token = await s.own();
      await s.waitFor(token);
      await s.store.release(s.key, { token, outcome });

      expect(await s.acquire({ waitedOn: token }, s.second)).toMatchObject({ code: 'outcome', outcome });
      expect(await s.acquire({ waitedOn: token, mode: 'probe' })).toMatchObject({ code: 'outcome', outcome });
      await s.expectNoLease();
    });

    it('binds nobody else', async () => {
      const s = subject();
      const token = await s.own();
      await s.waitFor(token);
      await s.store.release(s.key, { token, outcome });

      expect(await s.acquire({ mode: 'probe', waitedOn: '' })).toMatchObject({ code: 'free' });
      expect(await s.acquire({ mode: 'probe', waitedOn: freshToken() })).toMatchObject({ code: 'free' });
      expect(await s.acquire({ waitedOn: '' })).toMatchObject({ code: 'owner' });
    });

    it('is not left when nobody waited', async () => {
      const s = subject();
      const token = await s.own();
      await s.acquire({ willWait: false }, s.second);
      await s.store.release(s.key, { token, outcome });

      expect(await s.acquire({ waitedOn: token })).toMatchObject({ code: 'owner' });
    });

    it('that is empty lets one of the waiters take over', async () => {
      const s = subject();
      const token = await s.own();
      await s.waitFor(token);
      await s.store.release(s.key, { token, outcome: '' });

      const next = await s.own({ waitedOn: token });
      expect(await s.acquire({ waitedOn: token }, s.second)).toMatchObject({ code: 'wait', token: next });
    });

    it('gives way to an entry', async () => {
      const s = subject();
      const token = await s.own();
      await s.waitFor(token);
      await s.store.release(s.key, { token, outcome });
      await s.store.write(s.key, await s.entry(freshToken()), 60_000);

      expect(await s.acquire({ waitedOn: token })).toMatchObject({ code: 'hit' });
    });

    it('is gone after an invalidation: what is loaded now is another truth', async () => {
      const s = subject();
      const token = await s.own();
      await s.waitFor(token);
      await s.store.release(s.key, { token, outcome });
      await s.store.invalidate(s.key, 0);

      expect(await s.acquire({ waitedOn: token })).toMatchObject({ code: 'owner' });
    });

    it('stays for two seconds at most', async () => {
      const s = subject();
      const token = await s.own();
      await s.waitFor(token);
      await s.store.release(s.key, { token, outcome });
      const { now: left } = await s.store.peek(s.key);

      let found = 0;
      await s.eventually(
        'the outcome is gone',
        async () => {
          const { code, now } = await s.acquire({ mode: 'probe', waitedOn: token });
          if (code === 'free') return true;
          found++;
          // The reply's own time, so that a slow machine cannot fail this; 2 ms for roundings.
          expect(now).toBeLessThanOrEqual(left + 2_002);
          return false;
        },
        100,
      );
      expect(found).toBeGreaterThan(0);
    });
  });
}
