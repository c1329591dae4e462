import { Injectable } from '@nestjs/common';
import * as ours from 'nestjs-stampede-cache';
import { boot } from './kit.js';

/** The package once more, with module state of its own, as a second version in node_modules would be. */
async function secondCopy(): Promise<typeof ours> {
  let copy: typeof ours | undefined;
  await jest.isolateModulesAsync(async () => {
    copy = await import('nestjs-stampede-cache');
  });
  if (copy === undefined) throw new Error('the copy was not loaded');
  return copy;
}

describe('Two copies of the package in one process', () => {
  it("let one's decorator use the other's module, service and errors", async () => {
    const other = await secondCopy();
    expect(other.Cached).not.toBe(ours.Cached);
    let runs = 0;
    @Injectable()
    class Reader {
      @other.Cached({ ttl: '60s' })
      async find(id: number) {
        runs += 1;
        return { id, key: other.currentLoad()?.key };
      }
    }
    const app = await boot({
      imports: [ours.StampedeCacheModule.forRoot()],
      providers: [Reader, { provide: 'ALIAS', useExisting: Reader }],
    });
    const reader = app.get(Reader);
    expect(await Promise.all([reader.find(1), reader.find(1)])).toHaveLength(2);
    expect(await reader.find(1)).toEqual({ id: 1, key: 'Reader.find:1' });
    expect(runs).toBe(1);
    const cache = app.get(ours.StampedeCacheService);
    await cache.of(Reader, 'find').invalidate(1);
    await reader.find(1);
    expect(runs).toBe(2);
    const factoryMade = new Reader();
    cache.attach(factoryMade);
    await factoryMade.find(1);
    expect(runs).toBe(2);
    const error: unknown = await reader.find((() => 1) as never).catch((thrown: unknown) => thrown);
    expect(error).not.toBeInstanceOf(other.UncacheableArgumentError);
    expect(other.isStampedeCacheError(error)).toBe(true);
  });
});
