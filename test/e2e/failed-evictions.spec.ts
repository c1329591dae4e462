import { Injectable } from '@nestjs/common';
import {
  Cached,
  CacheEvict,
  CachePut,
  InvalidationError,
  StampedeCacheModule,
  StampedeCacheService,
  type StampedeCacheEvent,
} from 'nestjs-stampede-cache';
import type { EntryKey } from '../../lib/core/keys/index.js';
import type { PutRequest, TagState } from '../../lib/core/store.js';
import { createMemoryStore } from '../../lib/memory/index.js';
import { ForwardingStore } from '../support/forwarding-store.js';
import { until } from '../support/until.js';
import { bootOn, Lines } from './kit.js';

/** A store that takes no changes while it is ill. Reading and loading go on. */
class IllStore extends ForwardingStore {
  ill = false;
  override async invalidate(key: EntryKey, holdOffMs: number): Promise<void> {
    this.check();
    return super.invalidate(key, holdOffMs);
  }
  override async invalidateTag(id: string, holdOffMs: number): Promise<TagState> {
    this.check();
    return super.invalidateTag(id, holdOffMs);
  }
  override async put(key: EntryKey, request: PutRequest): Promise<'stored' | 'late'> {
    this.check();
    return super.put(key, request);
  }
  override async clear(scope: string): Promise<number> {
    this.check();
    return super.clear(scope);
  }
  private check(): void {
    if (this.ill) throw new Error('the store is ill');
  }
}

@Injectable()
class Shop {
  runs = 0;
  updates = 0;
  @Cached({ tags: ['products'] })
  async find(_id: number) {
    return `run ${(this.runs += 1)}`;
  }
  @Cached()
  async other(_id: number) {
    return `run ${(this.runs += 1)}`;
  }
  @CacheEvict({ of: 'find', args: (_result, id) => [id] })
  async retried(id: number) {
    this.updates += 1;
    return id;
  }
  @CacheEvict({ of: 'find', when: 'before' })
  async retriedBefore(id: number) {
    this.updates += 1;
    return id;
  }
  @CacheEvict({ of: 'other', args: (_result, id) => [id], onFailure: 'throw' })
  @CacheEvict({ tags: ['products'], onFailure: 'throw' })
  async thrown(id: number) {
    this.updates += 1;
    return { id };
  }
  @CacheEvict({ of: 'find', when: 'before', onFailure: 'throw' })
  async thrownBefore() {
    this.updates += 1;
  }
  @CacheEvict({ of: 'other', args: (_result, id) => [id] })
  @CacheEvict({ of: 'find', onFailure: 'throw' })
  async both(id: number) {
    return id;
  }
  @CachePut({ of: 'find', args: (_result, id) => [id] })
  async put(id: number) {
    return `put ${id}`;
  }
}

async function start() {
  const stores: IllStore[] = [];
  const lines = new Lines();
  const app = await bootOn(
    (runtime) => {
      const store = new IllStore(createMemoryStore({ runtime }));
      stores.push(store);
      return store;
    },
    { imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' } })], providers: [Shop] },
    lines,
  );
  const [store] = stores;
  if (store === undefined) throw new Error('no store was made');
  const cache = app.get(StampedeCacheService);
  const events: StampedeCacheEvent[] = [];
  cache.events$.subscribe((event) => void (event.type === 'invalidate' && events.push(event)));
  const settled = () => until(() => cache.stats().active.unsettled === 0, { what: 'the retry' });
  return { shop: app.get(Shop), cache, store, lines, events, settled };
}

const warnings = (lines: Lines) => lines.ofCache('warn').filter((line) => line.startsWith('@Cache'));

describe("An eviction that the store does not acknowledge, with onFailure 'retry'", () => {
  it('leaves the result to the caller, warns once a minute, distrusts the entry, and succeeds in the end', async () => {
    const { shop, store, lines, events, settled } = await start();
    await shop.find(1);
    store.ill = true;
    expect([await shop.retried(1), await shop.retried(1)]).toEqual([1, 1]);
    expect(warnings(lines)).toEqual([
      expect.stringMatching(
        /@CacheEvict on Shop\.retried: .*Shop\.find:1.*the store is ill.*The method's result is returned/,
      ),
    ]);
    expect(await shop.find(1)).not.toBe('run 1');
    store.ill = false;
    await settled();
    const after = shop.runs;
    await shop.find(1);
    expect(await shop.find(1)).toBe(`run ${after + 1}`);
    expect(events.map((event) => event.type === 'invalidate' && event.result)).toEqual([
      'failed',
      'failed',
      'retried',
    ]);
  });

  it("'before': the method is called all the same", async () => {
    const { shop, store, lines } = await start();
    store.ill = true;
    expect(await shop.retriedBefore(1)).toBe(1);
    expect(shop.updates).toBe(1);
    expect(warnings(lines)).toEqual([expect.stringMatching(/Shop\.retriedBefore: .*The method is called/)]);
  });

  it('a put: the old value is not served, the result is returned', async () => {
    const { shop, store, lines, settled } = await start();
    await shop.find(1);
    store.ill = true;
    expect(await shop.put(1)).toBe('put 1');
    expect(warnings(lines)).toEqual([expect.stringMatching(/@CachePut on Shop\.put: .*the store is ill/)]);
    expect(await shop.find(1)).not.toBe('run 1');
    store.ill = false;
    await settled();
    expect(await shop.put(1)).toBe('put 1');
    expect(await shop.find(1)).toBe('put 1');
  });
});

describe("An eviction that the store does not acknowledge, with onFailure 'throw'", () => {
  it('rejects with an InvalidationError that carries the result, after every eviction was tried', async () => {
    const { shop, store } = await start();
    store.ill = true;
    const error: unknown = await shop.thrown(1).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidationError);
    expect((error as InvalidationError).result).toEqual({ id: 1 });
    expect((error as InvalidationError).keys).toEqual([expect.stringContaining('products'), 'Shop.other:1']);
    expect(shop.updates).toBe(1);
  });

  it("'before': the method is not called", async () => {
    const { shop, store } = await start();
    store.ill = true;
    await expect(shop.thrownBefore()).rejects.toThrow(InvalidationError);
    expect(shop.updates).toBe(0);
    store.ill = false;
    await shop.thrownBefore();
    expect(shop.updates).toBe(1);
  });

  it('below one that is retried: both are tried, and the failure shows', async () => {
    const { shop, store, lines, settled } = await start();
    await shop.other(1);
    store.ill = true;
    const error: unknown = await shop.both(1).catch((thrown: unknown) => thrown);
    expect((error as InvalidationError).result).toBe(1);
    expect(warnings(lines)).toEqual([expect.stringMatching(/Shop\.both: .*Shop\.other:1/)]);
    store.ill = false;
    await settled();
    expect(await shop.other(1)).toBe('run 2');
  });

  it("by hand too: the service's calls reject and are tried again", async () => {
    const { shop, cache, store, settled } = await start();
    await shop.find(1);
    store.ill = true;
    await expect(cache.of(Shop, 'find').invalidate(1)).rejects.toThrow(InvalidationError);
    await expect(cache.invalidateTags('products')).rejects.toThrow(InvalidationError);
    await expect(cache.clear()).rejects.toThrow(InvalidationError);
    expect(await shop.find(1)).toBe('run 2');
    store.ill = false;
    await settled();
  });

  it('after a transaction: deferInvalidations rejects with its result', async () => {
    const { shop, cache, store } = await start();
    store.ill = true;
    const transaction = cache.deferInvalidations(async () => [await shop.thrown(1), 'committed']);
    const error: unknown = await transaction.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidationError);
    expect((error as InvalidationError).result).toEqual([{ id: 1 }, 'committed']);
  });
});
