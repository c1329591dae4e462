import { Injectable, Module } from '@nestjs/common';
import { Cached, ConfigurationError } from 'nestjs-stampede-cache';
import { field } from './support/field.js';

const here = field();

/** What a bundler makes of two services: one short name for both. */
function bundle(what: string, name?: string) {
  @Injectable()
  class t {
    loads = 0;

    @Cached({ name })
    async get(id: number): Promise<string> {
      this.loads += 1;
      return `${what} ${id}`;
    }
  }
  return t;
}

describe('FC-034: classes whose names a bundler made equal', () => {
  it('are refused at bootstrap by name, both of them, where their entries would be one', async () => {
    @Module({ providers: [bundle('product')] })
    class ProductsModule {}
    @Module({ providers: [bundle('customer')] })
    class CustomersModule {}
    const error = await here.bootError(here.withCache({ imports: [ProductsModule, CustomersModule] }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/t\.get.*ProductsModule.*t\.get.*CustomersModule/s);
    expect(error.message).toMatch(/name of its own/);
  });

  it('answer for themselves under names of their own', async () => {
    const Products = bundle('product', 'products');
    const Customers = bundle('customer', 'customers');
    const app = await here.app({ providers: [Products, Customers] });
    for (const _ of ['cold', 'warm']) {
      expect(await app.get(Products).get(1)).toBe('product 1');
      expect(await app.get(Customers).get(1)).toBe('customer 1');
    }
    expect([app.get(Products).loads, app.get(Customers).loads]).toEqual([1, 1]);
    expect(await here.entries()).toHaveLength(2);
  });

  it('never read what an older release, running beside, stores for another class under the recycled class name', async () => {
    const [Old, Recycled] = [bundle('product', 'products'), bundle('customer', 'customers')];
    const [old, next] = [await here.app({ providers: [Old] }), await here.app({ providers: [Recycled] })];
    expect(await old.get(Old).get(1)).toBe('product 1');
    expect(await next.get(Recycled).get(1)).toBe('customer 1');
    // And after a second build, in which the first class got yet another name.
    const Renamed = { u: bundle('product', 'products') }.u;
    Object.defineProperty(Renamed, 'name', { value: 'u' });
    const third = await here.app({ providers: [Renamed] });
    expect(await third.get(Renamed).get(1)).toBe('product 1');
    expect(third.get(Renamed).loads).toBe(0);
  });
});
