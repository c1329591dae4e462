import type { LoadContext } from '../../../lib/core/load/index.js';
import { Origin } from '../../support/origin.js';
import { errorOf, type Subject } from './subject.js';

/** The bound after which a change by tag is heeded everywhere, ms. */
const LAG = 100;

export function tagsContract(subject: () => Subject): void {
  const open = () => subject().process({ coherence: { maxLag: LAG } });

  describe('an invalidated tag', () => {
    for (const where of ['this process', 'another process']) {
      it(`makes every entry that carries it a miss, from ${where}`, async () => {
        const s = subject();
        const a = await open();
        const changer = where === 'this process' ? a : await open();
        await a.get('one', () => 'one 1', { tags: ['red', 'shared'] });
        await a.get('two', () => 'two 1', { tags: ['blue', 'shared'] });
        await a.get('three', () => 'three 1', { tags: ['blue'] });
        await changer.cache.changes.invalidateTags(['shared']);
        await s.lab.advance(LAG + 20);

        expect(await a.get('one', () => 'one 2', { tags: ['red', 'shared'] })).toBe('one 2');
        expect(await a.get('two', () => 'two 2', { tags: ['blue', 'shared'] })).toBe('two 2');
        expect(await a.get('three', () => 'three 2', { tags: ['blue'] })).toBe('three 1');
      });
    }

    it('fences a load that began before it, and those who joined since load once more', async () => {
      const s = subject();
      const [a, b] = [await open(), await open()];
      const origin = new Origin();
      const before = a.get('k', origin.load, { tags: ['t'] });
      await origin.started(1);
      await b.cache.changes.invalidateTags(['t']);
      await s.lab.advance(LAG + 20);
      const after = [a, b, a].map((one) => one.get('k', origin.load, { tags: ['t'] }));
      await origin.give('old');
      await origin.give('new');

      expect(await before).toBe('old');
      expect(await Promise.all(after)).toEqual(['new', 'new', 'new']);
      expect(origin.starts).toBe(2);
      expect((await b.peek('k'))?.value).toBe('new');
    });

    it('is never served stale, not even instead of an error', async () => {
      const s = subject();
      const a = await open();
      const policy = { ttl: 1_000, stale: 60_000, tags: ['t'] };
      await a.get('k', () => 'old', policy);
      await a.cache.changes.invalidateTags(['t']);
      const failing = errorOf(a.get('k', () => Promise.reject(new Error('origin down')), policy));

      expect(await failing).toMatchObject({ message: 'origin down' });
      expect(await a.get('k', (ctx) => [ctx.stale, 'new'], policy)).toEqual([undefined, 'new']);
      await s.lab.advance(0);
    });

    it('that nobody ever carried hinders nothing: the first load with it is stored', async () => {
      const a = await open();
      await a.get('k', () => 'v1', { tags: ['brand new'] });

      expect(await a.entry('k', () => 'v2', { tags: ['brand new'] })).toMatchObject({ outcome: 'fresh' });
      await a.cache.changes.invalidateTags(['brand new']);
      await a.get('k', () => 'v3', { tags: ['brand new'] });
      expect(await a.entry('k', () => 'v4', { tags: ['brand new'] })).toMatchObject({ value: 'v3' });
    });

    it('with a hold-off keeps values from being stored for so long', async () => {
      const s = subject();
      const a = await open();
      await a.cache.changes.invalidateTags(['t'], 300);
      let loads = 0;
      const load = () => (loads += 1);
      await a.get('k', load, { tags: ['t'] });
      await a.get('k', load, { tags: ['t'] });
      expect(loads).toBe(2);
      await s.lab.advance(350);
      await a.get('k', load, { tags: ['t'] });
      await a.get('k', load, { tags: ['t'] });
      expect(loads).toBe(3);
    });
  });

  describe('a tag known after the load', () => {
    const late = [
      ['valueTags', (): unknown => ({ id: 7 }), { valueTags: (value: { id: number }) => [`p:${value.id}`] }],
      ['ctx.tags', (ctx: LoadContext<never>): unknown => (ctx.tags('p:7'), { id: 7 }), {}],
    ] as const;
    it.each(late)('by %s reaches the entry', async (_, load, policy) => {
      const s = subject();
      const [a, b] = [await open(), await open()];
      await a.get('k', load, policy as never);
      await s.happened(a, 'publish');
      expect(await a.inspect('k')).toMatchObject({ tags: ['p:7'] });
      await b.cache.changes.invalidateTags(['p:7']);
      await s.lab.advance(LAG + 20);

      expect(await a.peek('k')).toBeUndefined();
    });

    it('and invalidated during the load keeps its value from being stored', async () => {
      const a = await open();
      const origin = new Origin();
      const policy = { valueTags: () => ['p:7'] };
      const first = a.get('k', origin.load, policy);
      await origin.started(1);
      await a.cache.changes.invalidateTags(['p:7']);
      await origin.give('old');

      expect(await first).toBe('old');
      await subject().happened(a, 'publish');
      expect(await a.peek('k')).toBeUndefined();
    });

    it('is not asked of a value that is not there', async () => {
      const a = await open();
      const policy = { valueTags: (value: { id: number }) => [`p:${value.id}`] };

      expect(await a.entry('k', () => null, policy as never)).toMatchObject({ value: null });
      expect(await a.entry('k', () => null, policy as never)).toMatchObject({ outcome: 'negative' });
    });
  });

  describe('a softly expired tag', () => {
    it('makes its entries stale: served at once, refreshed by one', async () => {
      const s = subject();
      const [a, b] = [await open(), await open()];
      const policy = { ttl: 60_000, stale: 60_000, tags: ['t'] };
      await a.get('k', () => 'old', policy);
      await b.cache.changes.expireTags(['t']);
      await s.lab.advance(LAG + 20);
      let loads = 0;
      const load = () => ((loads += 1), 'new');

      expect(await a.entry('k', load, policy)).toMatchObject({ value: 'old', outcome: 'stale' });
      await s.happened(a, 'publish', 2);
      expect(await b.entry('k', load, policy)).toMatchObject({ value: 'new', outcome: 'fresh' });
      expect(loads).toBe(1);
    });

    it('that came with the value, and was expired during its load, makes the entry stale from the start', async () => {
      const s = subject();
      const a = await open();
      const origin = new Origin();
      const policy = { ttl: 60_000, stale: 60_000, valueTags: () => ['late'] };
      await a.get('other', () => 'v', { tags: ['late'] });
      const first = a.get('k', origin.load, policy);
      await origin.started(1);
      await a.cache.changes.expireTags(['late']);
      await origin.give('old');
      expect(await first).toBe('old');
      await s.happened(a, 'publish', 2);

      expect(await a.entry('k', () => 'new', policy)).toMatchObject({ value: 'old', outcome: 'stale' });
    });

    it('without a stale window makes them a miss', async () => {
      const s = subject();
      const a = await open();
      await a.get('k', () => 'old', { tags: ['t'] });
      await a.cache.changes.expireTags(['t']);
      await s.lab.advance(LAG + 20);

      expect(await a.entry('k', () => 'new', { tags: ['t'] })).toMatchObject({
        value: 'new',
        outcome: 'loaded',
      });
      expect(await a.entry('k', () => 'newer', { tags: ['t'] })).toMatchObject({ value: 'new' });
    });
  });

  describe('more than 16 tags', () => {
    const many = Array.from({ length: 17 }, (_, index) => `t${index}`);
    it('are refused before the load', async () => {
      const a = await open();
      let loads = 0;
      const error = await errorOf(a.get('k', () => (loads += 1), { tags: () => many }));

      expect(error).toMatchObject({ code: 'CONFIGURATION' });
      expect((error as Error).message).toMatch(/Shop\.find.*at most 16 tags, received 17/);
      expect(loads).toBe(0);
    });

    it('are refused when the value brings them, and release the lease', async () => {
      const a = await open();
      const error = await errorOf(
        a.get('k', () => 'v', { tags: ['one more'], valueTags: () => many.slice(1) }),
      );

      expect(error).toMatchObject({ code: 'CONFIGURATION' });
      expect(await a.get('k', () => 'v2')).toBe('v2');
    });
  });

  it('a set carries its tags', async () => {
    const s = subject();
    const [a, b] = [await open(), await open()];
    await a.set('k', { id: 1 }, {
      tags: ['t'],
      valueTags: (value: { id: number }) => [`p:${value.id}`],
    } as never);
    expect(await a.inspect('k')).toMatchObject({ tags: ['t', 'p:1'] });
    await b.cache.changes.invalidateTags(['p:1']);
    await s.lab.advance(LAG + 20);

    expect(await a.peek('k')).toBeUndefined();
  });

  it('a tag may be any text', async () => {
    const s = subject();
    const a = await open();
    const odd = [' ', 'a~b', 'a,b', '{x}', 'é', '\ud800', 'x'.repeat(5_000)];
    await a.get('k', () => 'v', { tags: odd });
    expect((await a.peek('k'))?.value).toBe('v');
    for (const tag of odd) {
      await a.get(`k ${tag.length}${tag}`, () => 'v', { tags: [tag] });
      await a.cache.changes.invalidateTags([tag]);
      await s.lab.advance(LAG + 20);
      expect(await a.peek(`k ${tag.length}${tag}`)).toBeUndefined();
    }
  });
}
