import { Injectable } from '@nestjs/common';
import { Cached, CacheEvict } from 'nestjs-stampede-cache';
import type { App } from './support/app.js';
import { field } from './support/field.js';

const here = field();

const POLICY = { ttl: '1h', tags: ['t'] } as const;

type Change = readonly [what: string, change: (cache: App['cache']) => Promise<unknown>];

const CHANGES: readonly Change[] = [
  ['invalidate of its own key', (cache) => cache.invalidate('k')],
  ['expire of its own key', (cache) => cache.expire('k')],
  ['invalidateTags of its own tag', (cache) => cache.invalidateTags('t')],
  ['clear', (cache) => cache.clear()],
  ['a deferred change of its own key', (cache) => cache.deferInvalidations(() => cache.invalidate('k'))],
];

describe('A load that changes what it is loading', () => {
  it.each(CHANGES)('ends, its callers are answered, and the next call loads anew: %s', async (_, change) => {
    const apps = [await here.app(), await here.app()] as const;
    const [{ cache }, other] = apps;
    let loads = 0;
    // Nested changes would wait for ever where they waited for the load around them.
    const value = await cache.getOrLoad(
      'k',
      async () => {
        loads += 1;
        if (loads === 1) await change(cache);
        return loads;
      },
      POLICY,
    );
    // What was read before the change is given to nobody who called after it; this caller called before.
    expect([1, 2]).toContain(value);
    const next = await other.cache.getOrLoad('k', () => (loads += 1), POLICY);
    expect(next).toBeGreaterThan(1);
    expect(await cache.getOrLoad('k', () => (loads += 1), POLICY)).toBe(next);
    expect(loads).toBe(2);
  });

  it('by a method that evicts: a read that touches leaves the touched entries out of the cache', async () => {
    @Injectable()
    class Documents {
      views = 0;
      loads = 0;
      @Cached({ tags: ['documents'] })
      async read(id: number): Promise<{ id: number; views: number }> {
        this.loads += 1;
        await this.countView(id);
        return { id, views: this.views };
      }
      @CacheEvict({ of: 'read', args: (_result, id) => [id] })
      async countView(_id: number): Promise<number> {
        return (this.views += 1);
      }
    }
    const app = await here.app({ providers: [Documents] });
    const documents = app.get(Documents);
    const first = await documents.read(1);
    expect(first.views).toBe(documents.views);
    const before = documents.loads;
    // Each call finds nothing and counts: bounded, whatever the reading evicts.
    for (let i = 0; i < 3; i++) await documents.read(1);
    expect(documents.loads - before).toBeLessThanOrEqual(6);
  });
});
