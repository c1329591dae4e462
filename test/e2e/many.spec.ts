import { AsyncLocalStorage } from 'node:async_hooks';
import { Controller, Get, type INestApplication, Injectable, Module } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import {
  Cached,
  ConfigurationError,
  currentLoad,
  isStampedeCacheError,
  LoadManyError,
  LoadRejectedError,
  StampedeCacheExceptionFilter,
  StampedeCacheModule,
  StampedeCacheService,
} from 'nestjs-stampede-cache';
import { rowsOf } from '../support/many-origin.js';
import { boot } from './kit.js';

type RootOptions = Parameters<typeof StampedeCacheModule.forRoot>[0];

async function service(options: RootOptions = {}): Promise<StampedeCacheService> {
  const app = await boot({
    imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s', jitter: 0 }, ...options })],
  });
  return app.get(StampedeCacheService);
}

interface Product {
  readonly id: number;
  readonly price: number;
}

const key = (id: number): [string, number] => ['product', id];
const products = (ids: readonly number[]): Map<number, Product> =>
  new Map(ids.map((id) => [id, { id, price: id * 10 }]));
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('getOrLoadMany', () => {
  it('loads what is missing in one call, and shares its entries with all other calls by hand', async () => {
    const cache = await service();
    const load = jest.fn(async (ids: number[]) => products(ids.filter((id) => id < 10)));
    await cache.getOrLoad(['product', 2], () => ({ id: 2, price: 5 }));
    const found = await cache.getOrLoadMany([3, 2, 11, 3, 1], load, { key });
    expect([...found]).toEqual([
      [3, { id: 3, price: 30 }],
      [2, { id: 2, price: 5 }],
      [1, { id: 1, price: 10 }],
    ]);
    expect(load.mock.calls.map(([ids]) => ids)).toEqual([[3, 11, 1]]);
    expect(await cache.get(['product', 3])).toEqual({ id: 3, price: 30 });
    expect(await cache.getEntry(['product', 11])).toMatchObject({ value: undefined, outcome: 'negative' });

    await cache.invalidate(['product', 3]);
    await cache.set(['product', 11], { id: 11, price: 1 });
    const again = await cache.getOrLoadMany([1, 3, 11], load, { key });
    expect([...again.keys()]).toEqual([1, 3, 11]);
    expect(load).toHaveBeenLastCalledWith([3], expect.anything());
    expect(load).toHaveBeenCalledTimes(2);
  });

  it("hands the key's parts to the policy's functions, and speaks for single ids by its context", async () => {
    const cache = await service();
    const ttl = jest.fn((product: Product, ..._key: readonly unknown[]) => product.price);
    await cache.getOrLoadMany(
      [1, 2],
      (ids, ctx) => {
        ctx.of(2).ttl('5s');
        return products(ids);
      },
      { key, ttl },
    );
    expect(ttl.mock.calls).toEqual([[{ id: 1, price: 10 }, 'product', 1]]);
    const left = (await cache.inspect(['product', 2]))?.freshFor;
    expect(left).toBeGreaterThan(4_000);
    expect(left).toBeLessThanOrEqual(5_000);
  });

  it('reads vary and bypass once, in the context of its caller', async () => {
    const tenant = new AsyncLocalStorage<string>();
    const vary = jest.fn(() => tenant.getStore() ?? 'none');
    const bypass = jest.fn(() => tenant.getStore() === 'straight');
    const cache = await service({ vary, bypass });
    const load = jest.fn(async (ids: number[]) => products(ids));
    const get = (): Promise<Map<number, Product>> => cache.getOrLoadMany([1, 2, 3], load, { key });
    await tenant.run('a', get);
    await tenant.run('b', get);
    await tenant.run('a', get);
    expect(load).toHaveBeenCalledTimes(2);
    expect([vary.mock.calls.length, bypass.mock.calls.length]).toEqual([3, 3]);
    await tenant.run('straight', get);
    await tenant.run('straight', get);
    expect(load).toHaveBeenCalledTimes(4);
    await cache.getOrLoadMany([1], load, { key }, { vary: 'a' });
    expect(load).toHaveBeenCalledTimes(4);
    await cache.getOrLoadMany([1], load, { key }, { bypass: true });
    expect(load).toHaveBeenCalledTimes(5);
  });

  it('runs its loader in the context of its caller, where currentLoad finds it', async () => {
    const scope = new AsyncLocalStorage<string>();
    const cache = await service();
    const seen: unknown[] = [];
    @Injectable()
    class Rows {
      async read(ids: readonly number[]): Promise<Map<number, Product>> {
        await Promise.resolve();
        seen.push(scope.getStore());
        currentLoad()?.ttl('5s');
        return products(ids);
      }
    }
    const rows = new Rows();
    await scope.run('caller', () => cache.getOrLoadMany([1, 2], (ids) => rows.read(ids), { key }));
    expect(seen).toEqual(['caller']);
    expect((await cache.inspect(['product', 2]))?.freshFor).toBeLessThanOrEqual(5_000);
    expect(currentLoad()).toBeUndefined();
  });

  it('works inside a @Cached method and with one inside', async () => {
    @Injectable()
    class Catalogue {
      loads = 0;
      constructor(private readonly cache: StampedeCacheService) {}

      @Cached()
      async price(id: number): Promise<number> {
        this.loads += 1;
        return id * 10;
      }

      @Cached()
      async page(...ids: number[]): Promise<Product[]> {
        const found = await this.cache.getOrLoadMany(
          ids,
          async (missing) => {
            const prices = await Promise.all(missing.map((id) => this.price(id)));
            return new Map(missing.map((id, at) => [id, { id, price: prices[at] ?? 0 }]));
          },
          { key },
        );
        return [...found.values()];
      }
    }
    const app = await boot({
      imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' }, loads: { concurrency: 1 } })],
      providers: [Catalogue],
    });
    const catalogue = app.get(Catalogue);
    const pages = await Promise.all([catalogue.page(1, 2), catalogue.page(2, 3), catalogue.page(1, 2)]);
    expect(pages.map((page) => page.map(({ price }) => price))).toEqual([
      [10, 20],
      [20, 30],
      [10, 20],
    ]);
    expect(catalogue.loads).toBe(3);
    expect(app.get(StampedeCacheService).stats().active).toMatchObject({ slots: 0, callers: 0 });
  });

  it("takes the caller's signal, its own or that of with()", async () => {
    const cache = await service();
    const controller = new AbortController();
    const reason = new Error('client gone');
    const hang = (): Promise<Map<number, Product>> => new Promise(() => undefined);
    const calls = [
      errorOf(cache.getOrLoadMany([1], hang, { key }, { signal: controller.signal })),
      errorOf(cache.with({ signal: controller.signal }, () => cache.getOrLoadMany([2], hang, { key }))),
    ];
    controller.abort(reason);
    expect(await Promise.all(calls)).toEqual([reason, reason]);
  });

  it('goes straight to the loader, maxBatch ids at a time, when the cache is off', async () => {
    const cache = await service({ enabled: false });
    const load = jest.fn(async (ids: number[], ctx: { signal: AbortSignal }) => {
      expect(ctx.signal.aborted).toBe(false);
      return products(ids.filter((id) => id !== 2));
    });
    const found = await cache.getOrLoadMany([3, 2, 1, 3], load, { key, maxBatch: 2 });
    expect([...found.keys()]).toEqual([3, 1]);
    expect(load.mock.calls.map(([ids]) => ids)).toEqual([[3, 2], [1]]);
    const failing = errorOf(cache.getOrLoadMany([1], () => Promise.reject(new Error('down')), { key }));
    expect(await failing).toBeInstanceOf(LoadManyError);
  });

  it('rejects with what could be had', async () => {
    const cache = await service();
    await cache.set(['product', 1], { id: 1, price: 1 });
    const down = new Error('down');
    const error = await errorOf(cache.getOrLoadMany([1, 2], () => Promise.reject(down), { key }));
    expect(error).toBeInstanceOf(LoadManyError);
    expect(isStampedeCacheError(error)).toBe(true);
    const { results, errors, cause, code } = error as LoadManyError;
    expect({ results, errors, cause, code }).toEqual({
      results: new Map([[1, { id: 1, price: 1 }]]),
      errors: new Map([[2, down]]),
      cause: down,
      code: 'LOAD_MANY',
    });
  });

  it.each([
    ['ids that are no array', [new Set([1]), rowsOf, { key }], 'ids are an array, received Set(1) { 1 }'],
    [
      'no loader',
      [[1], undefined, { key }],
      'takes a function that loads the missing ids, received undefined',
    ],
    ['no policy', [[1], rowsOf], 'a policy is an object such as { key: '],
    ['no key', [[1], rowsOf, { ttl: '1s' }], 'key is a function such as (id) => '],
    ['an ill maxBatch', [[1], rowsOf, { key, maxBatch: 0 }], 'maxBatch is a whole number >= 1, received 0'],
    ['an unknown option', [[1], rowsOf, { key, batch: 5 }], "unknown option 'batch' (5)"],
    ['ill call options', [[1], rowsOf, { key }, { fresh: 1 }], 'fresh is true or false, received 1'],
  ])('refuses %s by name', async (_, args, message) => {
    const cache = await service();
    const many = cache.getOrLoadMany.bind(cache) as (...args: unknown[]) => Promise<unknown>;
    const error = await errorOf(many(...args));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toContain(message);
  });

  it('refuses ids whose key has no text before it loads', async () => {
    const cache = await service();
    const load = jest.fn();
    const error = await errorOf(cache.getOrLoadMany([1, () => 1], load, { key: (id) => id }));
    expect(error).toMatchObject({ code: 'UNCACHEABLE_ARGUMENT' });
    expect((error as Error).message).toMatch(/^StampedeCacheService\.getOrLoadMany: /);
    expect(load).not.toHaveBeenCalled();
  });
});

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])('A failed getOrLoadMany over %s', (_, adapter) => {
  let app: INestApplication | undefined;
  afterEach(() => app?.close());

  it('is a 503 where all its ids are, else an ordinary error', async () => {
    @Controller()
    class Shop {
      constructor(private readonly cache: StampedeCacheService) {}

      @Get('shed')
      async shed() {
        const shed = (): never => {
          throw new LoadRejectedError('secret', 2_500);
        };
        return [...(await this.cache.getOrLoadMany([1, 2], shed, { key }))];
      }

      @Get('down')
      async down() {
        const down = (): never => {
          throw new Error('secret');
        };
        return [...(await this.cache.getOrLoadMany([1, 2], down, { key }))];
      }
    }
    @Module({ imports: [StampedeCacheModule.forRoot({ policy: { ttl: '1s' } })], controllers: [Shop] })
    class App {}
    const testing = await Test.createTestingModule({ imports: [App] }).compile();
    app = testing.createNestApplication(adapter(), { logger: false });
    app.useGlobalFilters(new StampedeCacheExceptionFilter());
    await app.init();
    if (adapter() instanceof FastifyAdapter)
      await (app.getHttpAdapter().getInstance() as { ready(): Promise<void> }).ready();
    const shed = await request(app.getHttpServer()).get('/shed');
    expect([shed.status, shed.headers['retry-after']]).toEqual([503, '3']);
    expect(JSON.stringify(shed.body)).not.toContain('secret');
    const down = await request(app.getHttpServer()).get('/down');
    expect([down.status, JSON.stringify(down.body).includes('secret')]).toEqual([500, false]);
  });
});
