import { Origin } from '../../support/origin.js';
import { errorOf, type Subject } from './subject.js';

/** The breaker and the pools of the load guard. */
export function guardContract(subject: () => Subject): void {
  describe('the breaker', () => {
    const down = (): Promise<never> => Promise.reject(new Error('the origin is down'));
    const HALF_OPEN_AFTER = 200;

    it('stops loads of a failing origin, lets one try, and closes when that succeeds', async () => {
      const s = subject();
      const a = await s.process({ loads: { breaker: { minimum: 4, halfOpenAfter: HALF_OPEN_AFTER } } });
      const policy = { ttl: 20, staleIfError: 60_000 };
      await a.get('known', () => 'old', policy);
      for (let i = 0; i < 4; i++) await errorOf(a.get(`k${i}`, down));
      await s.lab.advance(30);
      const origin = new Origin();

      expect(await errorOf(a.get('k', origin.load))).toMatchObject({ code: 'LOAD_REJECTED' });
      expect(await a.get('known', origin.load, policy)).toBe('old');
      expect(origin.starts).toBe(0);
      expect(a.cache.stats().pools).toMatchObject({ default: { breaker: 'open' } });
      await s.lab.advance(HALF_OPEN_AFTER);
      const trial = a.get('k', origin.load);
      await origin.started(1);
      expect(await errorOf(a.get('other', origin.load))).toMatchObject({ code: 'LOAD_REJECTED' });
      await origin.give('v');
      expect(await trial).toBe('v');
      expect(await a.get('other', () => 'w')).toBe('w');
      expect(origin.starts).toBe(1);
    });

    it('is of one process: another goes on', async () => {
      const s = subject();
      const loads = { breaker: { minimum: 1 } };
      const [a, b] = [await s.process({ loads }), await s.process({ loads })];
      await errorOf(a.get('k', down));

      expect(await errorOf(a.get('k', () => 'v'))).toMatchObject({ code: 'LOAD_REJECTED' });
      expect(await b.get('k', () => 'v')).toBe('v');
      expect(await a.get('k', down)).toBe('v');
    });
  });

  describe('pools', () => {
    it('that call each other with one slot each come to an end, each within its limit', async () => {
      const s = subject();
      const a = await s.process({ loads: { concurrency: 1, queueTimeout: '1m', pools: { reports: {} } } });
      const gate = new Origin();
      const between = (pool: string, other: string): Promise<unknown> =>
        a.get(
          pool,
          async () => {
            await gate.load();
            return a.get(`${pool}-inner`, () => pool, { pool: other });
          },
          { pool },
        );
      const calls = Promise.all([between('default', 'reports'), between('reports', 'default')]);
      await gate.started(2);
      await gate.give(undefined);
      await gate.give(undefined);
      await s.lab.advance(50);

      expect(await calls).toEqual(['default', 'reports']);
      expect(a.cache.stats().active).toMatchObject({ queued: 0 });
    });
  });
}
