import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  ConfigurationError,
  StampedeCacheModule,
  StampedeCacheService,
  type StampedeCacheModuleOptions,
} from 'nestjs-stampede-cache';
import { Origin } from '../support/origin.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { atRest } from '../unit/core/quiet.js';
import { watchUnhandled } from '../unit/core/watch-unhandled.js';
import { boot } from './kit.js';

let server: RedisServer;
let namespaces = 0;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const never = (): never => {
  throw new Error('nothing was to be loaded');
};
const times = <T>(count: number, one: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => one(index));

describe.each(['in memory', 'on Redis'])('getOrLoad with `shared: true`, %s', (where) => {
  watchUnhandled();
  let namespace: string;
  let cache: StampedeCacheService;
  const policy = { ttl: '1m', jitter: 0, earlyRefresh: 0, shared: true } as const;

  const service = async (options: StampedeCacheModuleOptions = {}): Promise<StampedeCacheService> => {
    const redis = where === 'on Redis' && { redis: server.url, namespace, redisTimeout: '5s' as const };
    const module = StampedeCacheModule.forRoot({ policy, ...redis, ...options });
    return (await boot({ imports: [module] })).get(StampedeCacheService);
  };
  beforeEach(async () => {
    namespace = `together-${(namespaces += 1)}`;
    cache = await service();
  });
  afterEach(() => atRest(cache.stats()));
  const outcomes = (of = cache): Record<string, number> =>
    Object.fromEntries(Object.entries(of.stats().outcomes).filter(([, count]) => count > 0));

  it('gives callers of one turn one promise, those of the next another', async () => {
    await cache.set('k', { n: 1 });
    const calls = times(100, () => cache.getOrLoad('k', never));
    expect(new Set(calls).size).toBe(1);
    const value = await calls[0];
    const later = cache.getOrLoad('k', never);
    expect(later).not.toBe(calls[0]);
    expect([value, await later]).toEqual([{ n: 1 }, { n: 1 }]);
    expect(Object.isFrozen(value)).toBe(true);
    expect(outcomes()).toEqual({ fresh: 101 });
  });

  it('one key and one policy at a time', async () => {
    const own = { ...policy };
    const alike = { ...policy };
    const calls = [
      cache.getOrLoad(1, () => 'number'),
      cache.getOrLoad('1', () => 'text'),
      cache.getOrLoad('1', () => 'text', own),
      cache.getOrLoad('1', () => 'text', alike),
      cache.getOrLoad('1', () => 'text', alike, {}),
      cache.getOrLoad(['1'], () => 'list'),
      cache.getOrLoad(['1'], () => 'list'),
      cache.getOrLoad('1', () => 'text', { ...policy, shared: false }),
    ];
    expect(new Set(calls).size).toBe(calls.length);
    expect(cache.getOrLoad('1', () => 'text')).not.toBe(calls[0]);
    expect(await Promise.all(calls)).toEqual(['number', ...times(4, () => 'text'), 'list', 'list', 'text']);
  });

  it('a key that may change under its callers is none to share by', async () => {
    const key = ['a'];
    const first = cache.getOrLoad(key, () => 'of a');
    key[0] = 'b';
    const second = cache.getOrLoad(key, () => 'of b');
    expect(await Promise.all([first, second])).toEqual(['of a', 'of b']);
  });

  it('each goes on in its own async context, also when it fails', async () => {
    const user = new AsyncLocalStorage<number>();
    const origin = new Origin();
    const callers = (key: string): Promise<unknown>[] =>
      times(50, (id) =>
        user.run(id, async () => {
          const outcome = await cache.getOrLoad(key, origin.load).catch(() => 'failed');
          return [outcome, user.getStore()];
        }),
      );
    const loaded = callers('a');
    await origin.give('v');
    expect(await Promise.all(loaded)).toEqual(times(50, (id) => ['v', id]));
    const failed = callers('b');
    await origin.fail(new Error('down'));
    expect(await Promise.all(failed)).toEqual(times(50, (id) => ['failed', id]));
    expect(origin.starts).toBe(2);
    expect(cache.stats()).toMatchObject({ misses: 100, outcomes: { loaded: 1, joined: 49 } });
  });

  it('a caller without a loader is refused, whoever it came with', async () => {
    await cache.set('k', 'v');
    const first = cache.getOrLoad('k', never);
    const wrong = cache.getOrLoad('k', undefined as never);
    await expect(wrong).rejects.toBeInstanceOf(ConfigurationError);
    expect(await first).toBe('v');
  });

  it('one that asks for something else gets that', async () => {
    await cache.set('k', 'v');
    const first = cache.getOrLoad('k', never);
    const others = [
      cache.with({ bypass: true }, () => cache.getOrLoad('k', () => 'past')),
      cache.with({ vary: 'acme' }, () => cache.getOrLoad('k', () => 'of acme')),
      cache.getOrLoad('k', () => 'past', undefined, { bypass: true }),
      cache.getOrLoad('k', () => 'of b', undefined, { vary: 'b' }),
    ];
    expect(await Promise.all(others)).toEqual(['past', 'of acme', 'past', 'of b']);
    expect(await first).toBe('v');
    expect(await cache.with({ vary: 'acme' }, () => cache.getOrLoad('k', never))).toBe('of acme');
  });

  it('tenants and transactions stay apart, told by the module`s own functions', async () => {
    const user = new AsyncLocalStorage<string>();
    const tenants = await service({ vary: () => user.getStore() ?? 'nobody' });
    const ask = (tenant: string): Promise<unknown> =>
      user.run(tenant, () => tenants.getOrLoad('k', () => `of ${user.getStore()}`));
    expect(await Promise.all([ask('a'), ask('b'), ask('a')])).toEqual(['of a', 'of b', 'of a']);

    const bypassing = await service({ bypass: () => user.getStore() === 'tx' });
    const read = (who: string): Promise<unknown> =>
      user.run(who, () => bypassing.getOrLoad('t', () => `for ${who}`));
    expect(await Promise.all([read('all'), read('tx'), read('all')])).toEqual([
      'for all',
      'for tx',
      'for all',
    ]);
  });

  it('a subscriber of events$ hears of each', async () => {
    await cache.set('k', 'v');
    const seen: string[] = [];
    const subscription = cache.events$.subscribe(({ type }) => void seen.push(type));
    const calls = times(3, () => cache.getOrLoad('k', never));
    expect(await Promise.all(calls)).toEqual(['v', 'v', 'v']);
    expect(seen.filter((type) => type === 'hit')).toHaveLength(3);
    subscription.unsubscribe();
  });

  it('a load that calls the cache itself shares nothing with those outside', async () => {
    await cache.set('inner', 'there');
    const outside = cache.getOrLoad('inner', never);
    const inside = cache.getOrLoad('k', async () => {
      const mine = cache.getOrLoad('inner', never);
      expect(mine).not.toBe(cache.getOrLoad('inner', never));
      return [await mine];
    });
    expect(await Promise.all([outside, inside])).toEqual(['there', ['there']]);
    const itself = times(2, () => cache.getOrLoad('r', () => cache.getOrLoad('r', never)));
    for (const call of itself) await expect(call).rejects.toMatchObject({ code: 'REENTRANT_LOAD' });
  });

  it('who comes after a change has resolved gets nothing older, also within one turn', async () => {
    const change = {
      invalidate: () => cache.invalidate('k'),
      set: () => cache.set('k', 'set'),
      clear: () => cache.clear(),
      tag: () => cache.invalidateTags('t'),
      deferred: () => cache.deferInvalidations(() => cache.invalidate('k')),
    };
    const tagged = { ...policy, tags: ['t'] };
    for (const [what, run] of Object.entries(change)) {
      await cache.set('k', 'old', tagged);
      const before = cache.getOrLoad('k', () => 'new', tagged);
      const during = run();
      const meanwhile = cache.getOrLoad('k', () => 'new', tagged);
      const after = during.then(() => cache.getOrLoad('k', () => 'new', tagged));
      expect([what, await after]).toEqual([what, what === 'set' ? 'set' : 'new']);
      await Promise.all([before, meanwhile]);
    }
  });

  it('nor after a change elsewhere, under load', async () => {
    const elsewhere = where === 'on Redis' ? await service() : cache;
    let [version, floor, isOver] = [0, 0, false];
    const wrong: string[] = [];
    const load = async (): Promise<{ version: number }> => {
      const read = version;
      await nextTurn();
      return { version: read };
    };
    const caller = async (): Promise<void> => {
      while (!isOver) {
        const least = floor;
        const got = (await cache.getOrLoad('k', load)).version;
        if (got < least) wrong.push(`${got} < ${least}`);
      }
    };
    const callers = times(20, caller);
    for (let change = 1; change <= 200; change += 1) {
      version = change;
      await elsewhere.invalidate('k');
      floor = change;
      await nextTurn();
    }
    isOver = true;
    await Promise.all(callers);
    expect(wrong).toEqual([]);
    expect(cache.stats().loads.started).toBeGreaterThan(20);
    expect(cache.stats().outcomes.fresh + cache.stats().outcomes.joined).toBeGreaterThan(200);
  });

  it('a cache that is off, or closed, calls each loader', async () => {
    const off = await service({ enabled: false });
    const load = jest.fn(() => 'v');
    expect(await Promise.all(times(3, () => off.getOrLoad('k', load)))).toEqual(['v', 'v', 'v']);
    expect(load).toHaveBeenCalledTimes(3);
    expect(outcomes(off)).toEqual({ bypassed: 3 });
  });

  it('keeps no value alive beyond its callers', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const refOf = async (): Promise<WeakRef<object>> => {
      const calls = times(3, () => cache.getOrLoad('k', () => ({ big: times(1_000, (n) => n) })));
      const [value] = await Promise.all(calls);
      return new WeakRef(value as object);
    };
    await refOf();
    const hit = await refOf();
    await until(
      () => {
        collect();
        return hit.deref() === undefined;
      },
      { what: 'the value to be collected' },
    );
  });
});
