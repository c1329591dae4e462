import { Injectable, type Type } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { field } from './support/field.js';

const here = field();

interface Product {
  readonly id: number;
  readonly type?: string;
}

interface Products {
  loads: number;
  find(id: number): Promise<Product>;
}

/** A build of the application: what its method returns, and which version it says that is. */
function build(version: string | number | undefined, shape: object): Type<Products> {
  @Injectable()
  class ProductsService implements Products {
    loads = 0;
    @Cached({ name: 'products', key: (id) => id, version, ttl: '1h', stale: '1h', tags: ['products'] })
    async find(id: number): Promise<Product> {
      this.loads += 1;
      return { id, ...shape };
    }
  }
  return ProductsService;
}

interface Build {
  readonly app: App;
  readonly products: Products;
  readonly type: Type<Products>;
}

async function start(version: string | number | undefined, shape: object): Promise<Build> {
  const type = build(version, shape);
  const app = await here.app({ providers: [type] });
  return { app, type, products: app.get(type) };
}

const PAIRS: readonly (readonly [string | number | undefined, string | number | undefined])[] = [
  [1, 2],
  [undefined, 2],
  ['2024-01', '2024-01 '],
  ['a', 'a}b{:*'],
  ['1', '1.0'],
  ['x'.repeat(300), `${'x'.repeat(299)}y`],
];

describe.each(PAIRS)('FC-093: builds with version %j and %j side by side', (older, newer) => {
  it('read and load their own entries only, once each', async () => {
    const builds = [await start(older, {}), await start(newer, { type: 'book' })];
    for (let round = 0; round < 50; round++) {
      const [from, to] = await Promise.all(builds.map(({ products }) => products.find(1)));
      expect(from).toEqual({ id: 1 });
      expect(to).toEqual({ id: 1, type: 'book' });
    }
    expect(builds.map(({ products }) => products.loads)).toEqual([1, 1]);
    expect(await here.entries()).toHaveLength(2);
  });

  const CHANGES: readonly (readonly [string, (build: Build) => Promise<unknown>])[] = [
    ['invalidate', ({ app, type }) => app.cache.of(type, 'find').invalidate(1)],
    ['set', ({ app, type }) => app.cache.of(type, 'find').set([1], { id: 1, type: 'set' })],
    ['invalidateTags', ({ app }) => app.cache.invalidateTags('products')],
    ['clear of the method', ({ app, type }) => app.cache.of(type, 'find').clear()],
    ['clear', ({ app }) => app.cache.clear()],
  ];

  it.each(CHANGES)('%s by either reaches both', async (what, change) => {
    const builds = [await start(older, {}), await start(newer, { type: 'book' })] as const;
    const loads = () => builds.map(({ products }) => products.loads);
    for (const at of [0, 1] as const) {
      await Promise.all(builds.map(({ products }) => products.find(1)));
      const before = loads();
      await change(builds[at]);
      await until(
        async () => {
          await Promise.all(builds.map(({ products }) => products.find(1)));
          return loads().every(
            (count, index) => count > (before[index] ?? 0) || (what === 'set' && index === at),
          );
        },
        { what: 'both to load anew', timeout: 3_000 },
      );
      expect((await builds[at].products.find(1)).type).toBe(
        what === 'set' ? 'set' : at === 1 ? 'book' : undefined,
      );
    }
  });

  it('expire by either makes both stale', async () => {
    const builds = [await start(older, {}), await start(newer, { type: 'book' })] as const;
    await Promise.all(builds.map(({ products }) => products.find(1)));
    await builds[1].app.cache.of(builds[1].type, 'find').expire(1);
    for (const { app, type } of builds)
      expect(await app.cache.of(type, 'find').inspect(1)).toMatchObject({ state: 'stale' });
  });
});

describe('FC-093: what lies under the key is unreadable', () => {
  const GARBAGE: readonly (readonly [string, (entry: Buffer) => Buffer | string])[] = [
    ['empty', () => ''],
    ['JSON of another cache', () => '{"id":1}'],
    ['random bytes', () => Buffer.from(Array.from({ length: 400 }, (_, i) => (i * 197) % 256))],
    ['zeros', () => Buffer.alloc(200)],
    ['cut in the head', (entry) => entry.subarray(0, 40)],
    ['cut after the fixed head', (entry) => entry.subarray(0, 70)],
    ['cut in the block', (entry) => entry.subarray(0, 80)],
    ['cut in the payload', (entry) => entry.subarray(0, entry.length - 4)],
    ['without its payload', (entry) => entry.subarray(0, entry.indexOf('{'))],
    ['of an earlier wire version', (entry) => Buffer.concat([Buffer.from('1'), entry.subarray(1)])],
    ['of a later wire version', (entry) => Buffer.concat([Buffer.from('3'), entry.subarray(1)])],
    ['of another codec', (entry) => Buffer.from(entry.toString('latin1').replace(/^2v-j/, '2v-x'), 'latin1')],
    [
      'compressed by nobody knows what',
      (entry) => Buffer.from(entry.toString('latin1').replace(/^2v-/, '2vq'), 'latin1'),
    ],
    [
      'said to be compressed',
      (entry) => Buffer.from(entry.toString('latin1').replace(/^2v-/, '2vb'), 'latin1'),
    ],
    ['tags cut', (entry) => Buffer.from(entry.toString('latin1').replace(/~[^~]*~/, '~'), 'latin1')],
  ];

  it.each(GARBAGE)('%s: a miss, loaded once and replaced', async (_, spoil) => {
    const [one, two] = [await start(1, { type: 'book' }), await start(1, { type: 'book' })];
    await one.products.find(1);
    const name = await here.entry();
    const entry = (await here.raw.getBuffer(name)) as Buffer; // it was found a moment ago
    await here.raw.set(name, spoil(entry), 'PX', 60_000);
    for (let round = 0; round < 3; round++) {
      for (const { products } of [one, two]) expect(await products.find(1)).toEqual({ id: 1, type: 'book' });
    }
    expect([one.products.loads, two.products.loads]).toEqual([2, 0]);
    await one.app.cache.of(one.type, 'find').invalidate(1);
    expect(await here.entries()).toEqual([]);
  });

  it('by its type of key: a value is delivered, and the key of the other type is left or replaced, never an error', async () => {
    const one = await start(1, {});
    await one.products.find(1);
    const name = await here.entry();
    await here.raw.del(name);
    await here.raw.rpush(name, 'list');
    expect(await one.products.find(1)).toEqual({ id: 1 });
    expect(await one.products.find(1)).toEqual({ id: 1 });
    await one.app.cache.of(one.type, 'find').invalidate(1);
    expect(await one.products.find(1)).toEqual({ id: 1 });
    const { loads } = one.products;
    expect(await one.products.find(1)).toEqual({ id: 1 });
    expect(one.products.loads).toBe(loads);
  });
});
