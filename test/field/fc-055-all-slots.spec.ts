import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { cluster } from './support/cluster.js';
import { times } from './support/conditions.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();
const servers = cluster();

const KEYS = 60;

@Injectable()
class Products {
  loads = 0;
  @Cached({ ttl: '1h', stale: '1h', version: 2, tags: (id) => ['products', `product:${id}`] })
  async find(id: number): Promise<string> {
    return `${id} by load ${(this.loads += 1)}`;
  }
}

const CONNECTIONS = {
  'by its nodes': () => ({ nodes: servers().nodes }),
  'by its nodes, with auto-pipelining': () => ({
    nodes: servers().nodes,
    options: { enableAutoPipelining: true },
  }),
  'as an instance with auto-pipelining': () => servers().client({ enableAutoPipelining: true }),
  'as an instance with a key prefix': () => servers().client({ keyPrefix: 'tenant:' }),
} as const;

describe.each(Object.entries(CONNECTIONS))(
  'FC-055: on a cluster of three masters, given %s',
  (_, connection) => {
    async function start(): Promise<{
      apps: readonly [App, App];
      all: (app: App) => Promise<string[]>;
      loads: () => number;
    }> {
      const make = () => here.app({ cache: { redis: connection() }, providers: [Products] });
      const apps = [await make(), await make()] as const;
      const all = (app: App) => times(KEYS, (id) => app.get(Products).find(id));
      const loads = () => apps.reduce((sum, app) => sum + app.get(Products).loads, 0);
      await Promise.all(apps.map(all));
      expect(loads()).toBe(KEYS);
      return { apps, all, loads };
    }

    it('every operation on keys and tags of all slots works, and none is refused', async () => {
      const { apps, all, loads } = await start();
      const [one, two] = apps;
      const handle = one.cache.of(Products, 'find');
      const perMaster = (await servers().keys('*:d:*')).map((names) => names.length);
      expect(Math.min(...perMaster)).toBeGreaterThan(0);
      expect(perMaster.reduce((sum, count) => sum + count)).toBe(KEYS);

      /** Loads until both have loaded what they had to. */
      const reload = async (atLeast: number) => {
        const before = loads();
        await until(async () => (await Promise.all(apps.map(all))) && loads() >= before + atLeast);
        // The last of them may still be on their way to the store.
        await until(
          async () => isDeepStrictEqual(...((await Promise.all(apps.map(all))) as [string[], string[]])),
          {
            what: 'both to see the same',
          },
        );
        expect(loads()).toBe(before + atLeast);
      };
      await times(KEYS, (id) => handle.invalidate(id));
      await reload(KEYS);
      await one.cache.invalidateTags(...Array.from({ length: KEYS / 2 }, (__, id) => `product:${id}`));
      await reload(KEYS / 2);
      await one.cache.invalidateTags('products');
      await reload(KEYS);
      await times(KEYS, (id) => handle.expire(id));
      await reload(KEYS);
      await two.cache.expireTags('products', 'product:1');
      await reload(KEYS);
      await handle.clear();
      await reload(KEYS);
      await two.cache.clear();
      await reload(KEYS);
      await times(KEYS, (id) => handle.set([id], 'set'));
      expect(new Set((await Promise.all(apps.map(all))).flat())).toEqual(new Set(['set']));
      await one.cache.invalidate(...Array.from({ length: KEYS }, (__, i) => `k${i}`), { holdOff: '1ms' });
      await one.cache.deferInvalidations(() => times(KEYS, (id) => handle.invalidate(id)));
      await reload(KEYS);

      expect(await servers().errors()).not.toContain('CROSSSLOT');
      for (const { cache } of apps)
        expect(cache.stats()).toMatchObject({ storeFailures: 0, active: { unsettled: 0 } });
    }, 60_000);

    it("an entry's own keys lie in one slot, those of another version too", async () => {
      const { apps } = await start();
      const [app] = apps;
      let names: string[] = [];
      const load = async () => {
        names = (await servers().keys(`*${NAMESPACE}:[dl]:*{*'slot'*`)).flat();
        return 1;
      };
      await app.cache.set('slot', 0);
      await app.cache.getOrLoad('slot', load, undefined, { fresh: true });
      expect(names).toHaveLength(2);
      expect(new Set(await Promise.all(names.map((name) => servers().slotOf(name)))).size).toBe(1);
    }, 30_000);
  },
);
