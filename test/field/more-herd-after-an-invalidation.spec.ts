import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

const KEYS = 20;
const CALLERS = 10;
const POLICY = { ttl: '1h', tags: ['t'] } as const;

type Change = readonly [what: string, change: (cache: App['cache']) => Promise<void>];

const CHANGES: readonly Change[] = [
  ['invalidate', (cache) => cache.invalidate(...Array.from({ length: KEYS }, (_, key) => ['k', key]))],
  ['invalidateTags', (cache) => cache.invalidateTags('t')],
  ['clear', (cache) => cache.clear()],
];

describe.each(CHANGES)('Hot keys dropped by %s under full load', (_, change) => {
  it('are loaded once each in the fleet, and once more at most for those who had not heard', async () => {
    const apps = [await here.app(), await here.app(), await here.app()] as const;
    let row = 0;
    const loads = new Map<string, number>();
    const call = async (app: App, key: number): Promise<number> =>
      app.cache.getOrLoad(
        ['k', key],
        async () => {
          const read = row;
          const label = `${key} at ${read}`;
          loads.set(label, (loads.get(label) ?? 0) + 1);
          await here.raw.ping();
          return read;
        },
        POLICY,
      );
    const herd = () => Promise.all(apps.map((app) => times(KEYS * CALLERS, (i) => call(app, i % KEYS))));
    await herd();
    for (let round = 1; round <= 4; round++) {
      row = round;
      await change(apps[0].cache);
      const [here0] = await herd();
      expect(new Set(here0)).toEqual(new Set([round]));
      await until(async () => (await herd()).flat().every((value) => value === round), {
        what: 'everybody to know',
        timeout: 3_000,
      });
    }
    expect([...loads].filter(([, count]) => count > 1)).toEqual([]);
    expect(loads.size).toBe(KEYS * 5);
  }, 30_000);
});
