import { InvalidationError } from 'nestjs-stampede-cache';
import { deferred } from '../support/deferred.js';
import { errorOf, times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

const POLICY = { ttl: '1h', tags: ['t'] } as const;

async function start() {
  const app = await here.app({ cache: { redisWriteTimeout: 300 } });
  const { cache } = app;
  await cache.set('k', 'old', POLICY);
  return { app, cache, get: () => cache.get('k') };
}

describe('Changes around a transaction (deferInvalidations)', () => {
  it('by work that outlives it are made at once, not lost with it', async () => {
    const { cache, get } = await start();
    const go = deferred();
    let late: Promise<void> = Promise.resolve();
    await cache.deferInvalidations(async () => {
      late = go.promise.then(() => cache.invalidate('k'));
    });
    expect(await get()).toBe('old');
    go.resolve();
    await late;
    expect(await get()).toBeUndefined();
  });

  it('by work that outlives a rollback are made too: it is not part of what was undone', async () => {
    const { cache, get } = await start();
    const go = deferred();
    let late: Promise<void> = Promise.resolve();
    await errorOf(
      cache.deferInvalidations(async () => {
        late = go.promise.then(() => cache.invalidateTags('t'));
        throw new Error('rollback');
      }),
    );
    go.resolve();
    await late;
    expect(await get()).toBeUndefined();
  });

  it('of many transactions at once stay with their own: those rolled back change nothing', async () => {
    const { cache } = await start();
    await times(100, (i) => cache.set(['n', i], 'old'));
    await times(100, async (i) => {
      const run = cache.deferInvalidations(async () => {
        await here.raw.ping();
        await cache.invalidate(['n', i]);
        await here.raw.ping();
        if (i % 3 === 0) throw new Error('rollback');
      });
      await run.catch(() => undefined);
    });
    const left = await times(100, (i) => cache.get(['n', i]));
    expect(left).toEqual(left.map((_, i) => (i % 3 === 0 ? 'old' : undefined)));
  });

  it('keep their order: the last word about a key counts', async () => {
    const { cache, get } = await start();
    await cache.deferInvalidations(async () => {
      await cache.set('k', 'first', POLICY);
      await cache.invalidateTags('t');
      await cache.set('k', 'second', POLICY);
      await cache.expire('other');
    });
    expect(await get()).toBe('second');
    await cache.deferInvalidations(async () => {
      await cache.set('k', 'third', POLICY);
      await cache.invalidate('k');
    });
    expect(await get()).toBeUndefined();
    await cache.deferInvalidations(async () => {
      await cache.set('k', 'fourth', POLICY);
      await cache.clear();
    });
    expect(await get()).toBeUndefined();
    await cache.deferInvalidations(async () => {
      await cache.clear();
      await cache.set('k', 'fifth', POLICY);
    });
    expect(await get()).toBe('fifth');
  });

  it('that fail after the commit say so, with the result of what was committed', async () => {
    const { cache, get } = await start();
    await here.raw.call('ACL', 'SETUSER', 'default', '-unlink');
    let error: Error;
    try {
      error = await errorOf(cache.deferInvalidations(async () => (await cache.invalidate('k'), { id: 7 })));
    } finally {
      await here.raw.call('ACL', 'SETUSER', 'default', '+unlink');
    }
    expect(error).toBeInstanceOf(InvalidationError);
    expect((error as InvalidationError).result).toEqual({ id: 7 });
    expect(await get()).toBeUndefined();
  });

  it('of thousands of keys are made, each once', async () => {
    const { cache } = await start();
    await times(1_000, (i) => cache.set(['n', i], 'old'));
    const { invalidations } = cache.stats();
    await cache.deferInvalidations(async () => {
      for (let round = 0; round < 3; round++) {
        await times(1_000, (i) => cache.invalidate(['n', i]));
        await cache.invalidateTags('t', 't');
      }
    });
    expect(cache.stats().invalidations - invalidations).toBe(1_001);
    expect((await here.entries()).filter((name) => name.includes("'n'"))).toEqual([]);
  });
});
