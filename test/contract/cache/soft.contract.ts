import { Origin } from '../../support/origin.js';
import { errorOf, type Subject } from './subject.js';

/** Soft expiry, hold-off, and what a load says about its value. */
export function softContract(subject: () => Subject): void {
  describe('a soft expiry', () => {
    const policy = { ttl: 60_000, stale: 60_000 };

    it('makes the entry stale: served at once, refreshed by one of the fleet', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      await a.get('k', () => 'old', policy);
      await b.expire('k');
      let loads = 0;
      const load = () => ((loads += 1), 'new');

      expect(await a.entry('k', load, policy)).toMatchObject({ value: 'old', outcome: 'stale' });
      await s.happened(a, 'publish', 2);
      expect(await b.entry('k', load, policy)).toMatchObject({ value: 'new', outcome: 'fresh' });
      expect(loads).toBe(1);
    });

    it('leaves the age as it was', async () => {
      const s = subject();
      const a = await s.process();
      await a.get('k', () => 'old', policy);
      await s.lab.advance(200);
      await a.expire('k');
      const { age, staleFor } = await a.entry('k', () => 'new', policy);

      expect(age).toBeGreaterThanOrEqual(190);
      expect(age).toBeLessThan(5_000);
      expect(staleFor).toBeLessThan(1_000);
    });

    it('revokes a load under way: it is not stored', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const before = a.get('k', origin.load);
      await origin.started(1);
      await b.expire('k');
      await origin.give('old');

      expect(await before).toBe('old');
      await s.happened(a, 'publish');
      expect(await b.peek('k')).toBeUndefined();
    });

    it('of nothing is nothing', async () => {
      const a = await subject().process();
      await a.expire('k');

      expect(await a.inspect('k')).toBeNull();
    });
  });

  describe('a hold-off', () => {
    it('keeps what is loaded meanwhile from being stored, by one load at a time', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      await b.invalidate('k', 400);
      let loads = 0;
      const load = () => (loads += 1);
      await a.get('k', load);
      await b.get('k', load);
      expect(loads).toBe(2);
      expect(await a.peek('k')).toBeUndefined();
      await s.lab.advance(450);
      await a.get('k', load);
      await b.get('k', load);
      expect(loads).toBe(3);
    });

    it('is not ended by another invalidation, nor by an explicit set, whose value is served', async () => {
      const s = subject();
      const a = await s.process();
      await a.invalidate('k', 500);
      await a.invalidate('k');
      await a.get('k', () => 'lagging');
      expect(await a.peek('k')).toBeUndefined();
      await a.set('k', 'explicit');
      expect((await a.peek('k'))?.value).toBe('explicit');
      await a.get('k', () => 'lagging', {}, { fresh: true });
      expect((await a.peek('k'))?.value).toBe('explicit');
    });
  });

  describe('a source version', () => {
    it('never lets an older one replace a newer one', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { ttl: 100, stale: 60_000, failureBackoff: 10_000 };
      await a.get('k', (ctx) => (ctx.sourceVersion(7), 'seven'), policy);
      await s.lab.advance(120);
      expect(await a.get('k', (ctx) => (ctx.sourceVersion(6), 'six'), policy)).toBe('seven');
      await s.happened(a, 'publish', 2);
      let loads = 0;
      expect(await a.get('k', () => (loads += 1), policy)).toBe('seven');
      expect(loads).toBe(0);
    });

    it('replaces an equal or an older one, and one without', async () => {
      const a = await subject().process();
      const load = (version: number) => (ctx: { sourceVersion(n: number): void }) => (
        ctx.sourceVersion(version),
        version
      );
      await a.get('k', () => 'unversioned');
      for (const version of [3, 3, 4]) {
        await a.get('k', load(version), {}, { fresh: true });
        expect((await a.peek('k'))?.value).toBe(version);
      }
      await a.set('k', 'explicit');
      expect((await a.peek('k'))?.value).toBe('explicit');
    });

    it.each([-1, 1.5, NaN, '7', 2 ** 60])('is no %s', async (version) => {
      const a = await subject().process();
      const error = await errorOf(a.get('k', (ctx) => ctx.sourceVersion(version as number)));

      expect((error as Error).message).toMatch(/Shop\.find: ctx\.sourceVersion/);
    });
  });

  describe('asOf', () => {
    it('counts age and ttl from then', async () => {
      const a = await subject().process();
      const then = a.store.now() - 20_000;
      await a.get('k', (ctx) => (ctx.asOf(new Date(then)), 'v'), { ttl: 30_000 });
      const { age } = await a.entry('k', () => 'other', { ttl: 30_000 });
      const info = await a.inspect('k');

      expect(age).toBeGreaterThanOrEqual(20_000);
      expect(age).toBeLessThan(25_000);
      expect(info?.freshFor).toBeLessThanOrEqual(10_000);
    });

    it('long ago stores nothing, or something stale, and the future is now', async () => {
      const a = await subject().process();
      const now = a.store.now();
      await a.get('gone', (ctx) => (ctx.asOf(now - 40_000), 'v'), { ttl: 30_000 });
      await a.get('old', (ctx) => (ctx.asOf(now - 40_000), 'v'), { ttl: 30_000, stale: 60_000 });
      await a.get('future', (ctx) => (ctx.asOf(now + 9e8), 'v'), { ttl: 30_000 });

      expect(await a.inspect('gone')).toBeNull();
      expect(await a.inspect('old')).toMatchObject({ state: 'stale' });
      expect((await a.inspect('future'))?.freshFor).toBeLessThanOrEqual(30_000);
    });

    it('is no nonsense', async () => {
      const a = await subject().process();
      for (const time of [new Date(NaN), -1, '2026']) {
        const error = await errorOf(a.get('k', (ctx) => ctx.asOf(time as Date)));
        expect((error as Error).message).toMatch(/Shop\.find: ctx\.asOf/);
      }
    });
  });
}
