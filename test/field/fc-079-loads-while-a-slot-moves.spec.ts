import type { StampedeCacheModuleOptions } from 'nestjs-stampede-cache';
import type { App } from './support/app.js';
import { cluster } from './support/cluster.js';
import { times } from './support/conditions.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();
const servers = cluster();

const KEYS = 100;
/** The key whose slot moves. */
const MOVING = 7;

const CONNECTIONS: readonly (readonly [string, () => StampedeCacheModuleOptions['redis']])[] = [
  ['without auto-pipelining', () => ({ nodes: servers().nodes })],
  ['with enableAutoPipelining', () => ({ nodes: servers().nodes, options: { enableAutoPipelining: true } })],
];

describe.each(CONNECTIONS)('FC-079: while a slot of a cluster moves, %s', (_, connection) => {
  const start = () => here.app({ cache: { redis: connection(), redisTimeout: '5s' } });
  const keyOf = (app: App) => app.cache.getOrLoad(['k', MOVING], (ctx) => (ctx.skip(), ctx.key));

  it('keys of all other slots are loaded once in the fleet, and no question to Redis fails', async () => {
    const apps = [await start(), await start()] as const;
    const loads = Array.from({ length: KEYS }, () => 0);
    const load = async (i: number) => (loads[i] = (loads[i] ?? 0) + 1);
    const name = `${NAMESPACE}:d:{${await keyOf(apps[0])}}`;
    const endMove = await servers().beginMove(await servers().slotOf(name));
    await Promise.all(apps.map(({ cache }) => times(KEYS, (i) => cache.getOrLoad(['k', i], () => load(i)))));
    await endMove();
    const twice = loads.flatMap((count, i) => (count > 1 && i !== MOVING ? [i] : []));
    expect(twice).toEqual([]);
    expect(loads[MOVING]).toBeLessThanOrEqual(2);
  }, 30_000);
});
