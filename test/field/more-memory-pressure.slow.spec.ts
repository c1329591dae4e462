import { StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { RedisServer } from '../support/redis-server.js';
import { times } from './support/conditions.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();

const POLICIES = ['allkeys-random', 'volatile-ttl'] as const;
const TAGS = 10;
const KEYS = 300;
const ROUNDS = 8;
/** A busy machine is no reason to shed loads. */
const loads = { concurrency: 1_000, queueTimeout: '30s' } as const;
const FILLER = 'x'.repeat(10_000);

describe.each(POLICIES)(
  'A Redis short of memory (%s), where tags and entries are evicted at random',
  (eviction) => {
    it('never answers with a value from before the last invalidation', async () => {
      const args = ['--maxmemory', '3mb', '--maxmemory-policy', eviction];
      const server = await RedisServer.start({ args });
      here.atEnd(() => server.stop());
      const start = async () => {
        const options = { ...here.options(), redis: server.url, namespace: NAMESPACE, loads };
        return (await here.boot({ imports: [StampedeCacheModule.forRoot(options)] })).get(
          StampedeCacheService,
        );
      };
      const [one, two] = [await start(), await start()];
      const rows = Array.from({ length: TAGS }, () => 0);
      const read = (cache: StampedeCacheService, key: number) => {
        const tag = key % TAGS;
        return cache.getOrLoad(['k', key], () => ({ row: rows[tag], FILLER }), {
          ttl: '1h',
          tags: [`t${tag}`],
        });
      };
      const old: string[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        await times(KEYS, (key) => read(key % 2 ? one : two, key));
        const tag = round % TAGS;
        rows[tag] = round + 1;
        await one.invalidateTags(`t${tag}`);
        for (let key = tag; key < KEYS; key += TAGS) {
          const { row } = await read(one, key);
          if (row !== rows[tag]) old.push(`round ${round}: key ${key} is ${row}`);
        }
        if (round % 4 === 3) {
          rows.fill(100 + round);
          await one.clear();
          const values = await times(KEYS, (key) => read(one, key));
          values.forEach(({ row }, key) => {
            if (row !== 100 + round) old.push(`round ${round}: key ${key} is ${row} after clear`);
          });
        }
      }
      expect(old).toEqual([]);
      // It was short of memory.
      const evicted = Number(/evicted_keys:(\d+)/.exec(await server.client().info('stats'))?.[1]);
      expect(evicted).toBeGreaterThan(50);
    }, 60_000);
  },
);
