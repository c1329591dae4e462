import { Injectable } from '@nestjs/common';
import {
  Cached,
  CacheEvict,
  CachePut,
  ConfigurationError,
  StampedeCacheModule,
  StampedeCacheService,
} from 'nestjs-stampede-cache';
import { until } from '../support/until.js';
import { boot } from './kit.js';

type RootOptions = Parameters<typeof StampedeCacheModule.forRoot>[0];
async function service(options: RootOptions = {}) {
  const app = await boot({
    imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s', jitter: 0 }, ...options })],
  });
  const cache = app.get(StampedeCacheService);
  let runs = 0;
  const load = () => (runs += 1);
  return {
    cache,
    get: (key: string, tags: string[] = []) => cache.getOrLoad(key, load, { tags }),
    state: async (key: string) => (await cache.inspect(key))?.state,
  };
}

/** Everything that may be called with nothing to change. */
const IDLE: readonly ((cache: StampedeCacheService) => Promise<void>)[] = [
  (cache) => cache.invalidate(),
  (cache) => cache.expire(),
  (cache) => cache.invalidateTags(),
  (cache) => cache.invalidateTags(...[], { holdOff: '5s' }),
  (cache) => cache.expireTags(),
];

describe('The service', () => {
  it('does nothing without a key or tag', async () => {
    const { cache, get } = await service();
    await get('a', ['t']);
    for (const call of IDLE) await call(cache);
    expect(cache.stats().invalidations).toBe(0);
    expect(await get('a', ['t'])).toBe(1);
  });

  it('expires: the old value is served once more and refreshed', async () => {
    const { cache, get, state } = await service({ policy: { ttl: '60s', stale: '1h', jitter: 0 } });
    await get('a');
    await get('b');
    await cache.expire('a', 'b');
    expect([await state('a'), await state('b')]).toEqual(['stale', 'stale']);
    expect(await get('a')).toBe(1);
    await until(async () => (await get('a')) === 3, { what: 'the refresh' });
    expect(await state('b')).toBe('stale');
  });

  it('drops what carries a tag, and expires it', async () => {
    const { cache, get, state } = await service({ policy: { ttl: '60s', stale: '1h', jitter: 0 } });
    await get('a', ['x', 'both']);
    await get('b', ['y', 'both']);
    await get('c');
    await cache.invalidateTags('x', 'nobody');
    expect([await get('a', ['x', 'both']), await get('b', ['y', 'both']), await get('c')]).toEqual([4, 2, 3]);
    await cache.expireTags('both');
    expect([await get('a', ['x', 'both']), await get('b', ['y', 'both'])]).toEqual([4, 2]);
    await until(async () => (await get('a', ['x', 'both'])) > 4 && (await get('b', ['y', 'both'])) > 2, {
      what: 'the refreshes',
    });
    expect(await state('c')).toBe('fresh');
  });

  it('clears everything, and only what was there', async () => {
    const { cache, get } = await service();
    await get('a');
    await cache.set('b', 5);
    await cache.clear();
    expect([await cache.get('a'), await cache.get('b')]).toEqual([undefined, undefined]);
    expect([await get('a'), await get('a')]).toEqual([2, 2]);
  });

  it('holds off: for that long nothing is stored under the key or tag', async () => {
    const { cache, get } = await service();
    await cache.invalidate('a', 'b', { holdOff: '300ms' });
    expect([await get('a'), await get('a'), await get('b')]).toEqual([1, 2, 3]);
    await until(async () => (await get('a')) === (await get('a')), { what: 'the end of the hold-off' });
    await get('c', ['t']);
    await cache.invalidateTags('t', { holdOff: 300 });
    const first = await get('c', ['t']);
    expect(await get('c', ['t'])).toBe(first + 1);
    await until(async () => (await get('c', ['t'])) === (await get('c', ['t'])), {
      what: 'the end of the hold-off',
    });
  });

  it('takes for the option only a plain object with holdOff alone, behind a key', async () => {
    const { cache } = await service();
    const keys = [{ holdOff: '1h' }, { holdOff: '1h', id: 1 }, { id: 1 }];
    for (const key of keys) await cache.set(key, 1);
    await cache.invalidate(keys[0]);
    await cache.invalidate('a', keys[1]);
    await cache.invalidate('a', keys[2]);
    for (const key of keys) expect(await cache.get(key)).toBeUndefined();
    await cache.invalidate('a', { holdOff: undefined } as never);
    await cache.set('a', 1);
    expect(await cache.get('a')).toBe(1);
  });

  it.each<[string, (cache: StampedeCacheService) => unknown, RegExp]>([
    [
      'a holdOff that is no duration',
      (cache) => cache.invalidate('a', { holdOff: 'soon' as '1s' }),
      /invalidate\(\): holdOff: 'soon'/,
    ],
    [
      'a negative holdOff',
      (cache) => cache.invalidateTags('a', { holdOff: -1 }),
      /invalidateTags\(\): holdOff: -1/,
    ],
    [
      'holdOff of expire',
      (cache) => cache.expire('a', { holdOff: '1s' }),
      /expire\(\) takes no \{ holdOff \}.*invalidate\(\)/,
    ],
    [
      'holdOff of expireTags',
      (cache) => cache.expireTags('a', { holdOff: '1s' } as never),
      /expireTags\(\) takes no \{ holdOff \}/,
    ],
    ['a tag that is no text', (cache) => cache.invalidateTags(5 as never), /invalidateTags\(\).*5/],
    ['an empty tag', (cache) => cache.expireTags(''), /expireTags\(\).*''/],
    [
      'a transaction that is no function',
      (cache) => cache.deferInvalidations(5 as never),
      /deferInvalidations takes an async function.*received 5/,
    ],
  ])('refuses %s', async (_, act, message) => {
    const { cache } = await service();
    const error: unknown = await Promise.resolve(act(cache)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toMatch(message);
  });

  it('changes nothing where the cache is disabled', async () => {
    const { cache } = await service({ enabled: false });
    await cache.invalidate(() => 1);
    await cache.expire(() => 1);
    await cache.invalidateTags('a', { holdOff: '1s' });
    await cache.expireTags('a');
    await cache.clear();
    expect(await cache.deferInvalidations(async () => 5)).toBe(5);
    expect(cache.stats().invalidations).toBe(0);
  });

  it('never invalidates the key of nobody: a vary that is undefined is an error', async () => {
    const { cache } = await service({ vary: () => undefined });
    for (const act of [() => cache.invalidate('a'), () => cache.expire('a')]) {
      await expect(act()).rejects.toThrow(/vary\(\) returned undefined/);
    }
    await cache.clear();
    await cache.with({ vary: 'a' }, () => cache.invalidate('a'));
  });
});

describe('deferInvalidations', () => {
  @Injectable()
  class Shop {
    runs = 0;
    @Cached({ tags: ['products'] })
    async find(_id: number) {
      return `run ${(this.runs += 1)}`;
    }
    @CacheEvict({ of: 'find', args: (_result, id) => [id] })
    async update(id: number) {
      return id;
    }
    @CachePut({ of: 'find', args: (_result, id) => [id] })
    async put(id: number) {
      return `put ${id}`;
    }
  }

  async function shop() {
    const app = await boot({
      imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' } })],
      providers: [Shop],
    });
    const it = app.get(Shop);
    await it.find(1);
    await it.find(2);
    const look = async () => [await it.find(1), await it.find(2)];
    return { it, cache: app.get(StampedeCacheService), look };
  }

  const OLD = ['run 1', 'run 2'];

  it('makes the changes inside when it resolves', async () => {
    const { it, cache, look } = await shop();
    const result = await cache.deferInvalidations(async () => {
      await it.update(1);
      expect(await it.put(2)).toBe('put 2');
      await cache.set('k', 5);
      expect(await look()).toEqual(OLD);
      expect(await cache.get('k')).toBeUndefined();
      return 'committed';
    });
    expect(result).toBe('committed');
    expect(await look()).toEqual(['run 3', 'put 2']);
    expect(await cache.get('k')).toBe(5);
  });

  it('drops them when it rejects', async () => {
    const { it, cache, look } = await shop();
    const rollback = new Error('rollback');
    const run = cache.deferInvalidations(async () => {
      await it.update(1);
      await it.put(2);
      await cache.invalidateTags('products');
      await cache.clear();
      throw rollback;
    });
    await expect(run).rejects.toBe(rollback);
    expect(await look()).toEqual(OLD);
  });

  it('joins the outermost one', async () => {
    const { it, cache, look } = await shop();
    await cache.deferInvalidations(async () => {
      await cache.deferInvalidations(() => it.update(1));
      await cache
        .deferInvalidations(async () => {
          await it.update(2);
          throw new Error('inner');
        })
        .catch(() => undefined);
      expect(await look()).toEqual(OLD);
    });
    expect(await look()).toEqual(['run 3', 'run 2']);
  });

  it('leaves calls outside of it alone, and a wrong change shows at once', async () => {
    const { it, cache, look } = await shop();
    await cache.deferInvalidations(async () => {
      await expect(cache.invalidateTags('')).rejects.toThrow(ConfigurationError);
      await expect(cache.of(Shop, 'find').invalidate((() => 1) as never)).rejects.toThrow(/Shop\.find/);
    });
    let inside: Promise<unknown> = Promise.resolve();
    await Promise.all([
      cache.deferInvalidations(async () => {
        inside = it.update(1);
        await inside;
      }),
      it.update(2),
    ]);
    expect(await look()).toEqual(['run 3', 'run 4']);
  });
});
