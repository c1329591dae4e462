import type { App } from './support/app.js';
import { times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

const ROUNDS = 100;
const POLICY = { ttl: '1h', tags: ['t', 'u'] } as const;

type Change = readonly [string, (cache: App['cache']) => Promise<unknown>];

const CHANGES: readonly Change[] = [
  ['invalidateTags', (cache) => cache.invalidateTags('t')],
  ['invalidateTags of two', (cache) => cache.invalidateTags('t', 'u')],
  ['clear', (cache) => cache.clear()],
  ['invalidate', (cache) => cache.invalidate('k')],
];

/** Timestamps would be equal here: what is compared must not be a clock. */
describe.each(CHANGES)(
  'A value stored, dropped by %s and stored again in the same millisecond',
  (_, change) => {
    it('the old one never comes back, the new one is never dropped', async () => {
      const { cache } = await here.app();
      const wrong: string[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        await cache.set('k', `old ${round}`, POLICY);
        await change(cache);
        if ((await cache.get('k')) !== undefined) wrong.push(`round ${round}: the old value lives`);
        const load = () => `new ${round}`;
        await (round % 2 ? cache.getOrLoad('k', load, POLICY) : cache.set('k', load(), POLICY));
        if ((await cache.get('k')) !== load()) wrong.push(`round ${round}: the new value is gone`);
      }
      expect(wrong).toEqual([]);
    });

    it('by two processes at once: the last word is a miss or a value from after both', async () => {
      const apps = [await here.app(), await here.app()] as const;
      let row = 0;
      for (let round = 0; round < 30; round++) {
        await times(4, (i) => apps[i % 2 ? 1 : 0].cache.getOrLoad('k', () => row, POLICY));
        row += 1;
        await Promise.all(apps.map(({ cache }) => change(cache)));
        for (const { cache } of apps) expect(await cache.getOrLoad('k', () => row, POLICY)).toBe(row);
      }
    });
  },
);
