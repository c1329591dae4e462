import { filter } from 'rxjs';
import type { StampedeCacheService } from 'nestjs-stampede-cache';
import { untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

const LISTENERS: Readonly<Record<string, (cache: StampedeCacheService) => unknown>> = {
  'throws at once': (cache) =>
    cache.events$.subscribe(() => {
      throw new Error('broken listener');
    }),
  // An async listener passes every compiler that checks less than this project's does.
  'rejects later': (cache) =>
    cache.events$.subscribe((() => Promise.reject(new Error('broken listener'))) as () => void),
  'throws behind an operator': (cache) =>
    cache.events$.pipe(filter(({ type }) => type !== 'wait.start')).subscribe(() => {
      throw new Error('broken listener');
    }),
  'throws in the operator': (cache) =>
    cache.events$
      .pipe(
        filter(() => {
          throw new Error('broken listener');
        }),
      )
      .subscribe(),
};

describe('FC-068: a listener of events that is broken', () => {
  it.each(Object.keys(LISTENERS))(
    'changes no answer on a miss, a hit, a stale hit or a failing refresh, and is told of once: it %s',
    async (kind) => {
      const app = await here.app();
      const { cache } = app;
      LISTENERS[kind]?.(cache);
      const policy = { ttl: 60, stale: '1m' } as const;
      expect(await cache.getOrLoadEntry('k', () => 'v1', policy)).toMatchObject({
        value: 'v1',
        outcome: 'loaded',
      });
      expect(await cache.getOrLoad('k', () => 'v1', policy)).toBe('v1');
      await untilStale(() => cache.inspect('k'));
      const down = () => Promise.reject(new Error('down'));
      const stale = await cache.getOrLoadEntry('k', down, policy);
      expect(stale).toMatchObject({ value: 'v1', outcome: 'stale' });
      await app.happened('load.error');
      await cache.invalidate('k');
      await expect(cache.getOrLoad('k', down, policy)).rejects.toThrow('down');
      // An unhandled rejection would fail this file.
      await new Promise((resolve) => setImmediate(resolve));
      expect(here.lines.warnings.filter((line) => line.includes('broken listener'))).toHaveLength(1);
    },
  );
});
