import type { StampedeCacheModuleOptions } from 'nestjs-stampede-cache';
import type { App } from './support/app.js';
import { cluster } from './support/cluster.js';
import { times } from './support/conditions.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();
const servers = cluster();

const KEYS = 100;

type Redis = StampedeCacheModuleOptions['redis'];

const CONNECTIONS: readonly (readonly [string, () => Redis])[] = [
  ['options', () => ({ nodes: servers().nodes, options: { enableAutoPipelining: true } })],
  ['an instance', () => servers().client({ enableAutoPipelining: true })],
];

describe.each(CONNECTIONS)('FC-079: a cluster with enableAutoPipelining, given as %s', (_, connection) => {
  const start = () => here.app({ cache: { redis: connection() } });

  function book(): { load: (app: App, i: number) => Promise<string>; loads: number[] } {
    const loads = Array.from({ length: KEYS }, () => 0);
    const load = (app: App, i: number) =>
      app.cache.getOrLoad(['k', i], () => `${i}.${(loads[i] = (loads[i] ?? 0) + 1)}`, {
        tags: [`t${i % 7}`, `u${i}`],
      });
    return { load, loads };
  }

  const first = Array.from({ length: KEYS }, (__, i) => `${i}.1`);
  const once = Array.from({ length: KEYS }, () => 1);

  it('a hundred cold keys at once in two processes: each loads once, all values are right', async () => {
    const apps = [await start(), await start()] as const;
    const { load, loads } = book();
    const values = await Promise.all(apps.map((app) => times(KEYS, (i) => load(app, i))));
    expect(values).toEqual([first, first]);
    expect(loads).toEqual(once);
    await Promise.all([
      apps[0].cache.invalidateTags(...Array.from({ length: 7 }, (__, i) => `t${i}`)),
      apps[1].cache.invalidate(...Array.from({ length: KEYS }, (__, i) => ['k', i])),
      apps[1].cache.clear(),
    ]);
    expect(await times(KEYS, (i) => apps[0].cache.get(['k', i]))).toEqual(first.map(() => undefined));
    for (const { cache } of apps) expect(cache.stats().storeFailures).toBe(0);
    expect(await servers().errors()).not.toContain('CROSSSLOT');
  }, 30_000);

  it('while a slot moves from master to master no caller notices', async () => {
    const apps = [await start(), await start()] as const;
    const { load } = book();
    const key = `${NAMESPACE}:d:{${(await keyOf(apps[0], ['k', 7])) ?? ''}}`;
    const endMove = await servers().beginMove(await servers().slotOf(key));
    const during = Promise.all(apps.map((app) => times(KEYS, (i) => load(app, i))));
    const values = await during;
    await endMove();
    const later = await Promise.all(apps.map((app) => times(KEYS, (i) => load(app, i))));
    for (const seen of [...values, ...later]) {
      expect(seen.map((value) => Number(value.split('.')[0]))).toEqual(first.map((__, i) => i));
    }
    // Changes reach what was moved.
    await apps[0].cache.invalidate(['k', 7]);
    for (const { cache } of apps) expect(await cache.get(['k', 7])).toBeUndefined();
    expect(await servers().errors()).not.toContain('CROSSSLOT');
  }, 30_000);
});

/** The text in the hash tag. Anything loaded tells. */
function keyOf(app: App, key: (string | number)[]): Promise<string | undefined> {
  return app.cache.getOrLoad(key, (ctx) => (ctx.skip(), ctx.key));
}
