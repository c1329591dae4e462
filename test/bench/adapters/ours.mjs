/** This package in an application of NestJS: through its service, or through a method with `@Cached`. */
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { importOurs } from '../root.mjs';

const { Cached, StampedeCacheModule, StampedeCacheService } = await importOurs();
const HOUR = 3_600_000;

export async function create({ url, namespace, l1 = false, shared = false, decorated = false }) {
  class Products {
    one(_key, load) {
      return load();
    }
  }
  // What `@Injectable() class … { @Cached(…) one(…) }` compiles to.
  const descriptor = Object.getOwnPropertyDescriptor(Products.prototype, 'one');
  Cached({ ttl: HOUR, shared, key: (key) => key })(Products.prototype, 'one', descriptor);
  Object.defineProperty(Products.prototype, 'one', descriptor);
  Injectable()(Products);

  class App {}
  Module({
    imports: [StampedeCacheModule.forRoot({ redis: url, namespace, ...(l1 && { l1: {} }) })],
    providers: [Products],
  })(App);
  const app = await NestFactory.createApplicationContext(App, { logger: ['error', 'warn'] });
  const cache = app.get(StampedeCacheService);
  const products = app.get(Products);

  return {
    using({ ttlMs, staleMs = 0, together = false }) {
      if (decorated) return (key, load) => products.one(key, load);
      const policy = policyOf({ ttlMs, staleMs, together, shared });
      return (key, load) => cache.getOrLoad(key, load, policy);
    },
    usingMany({ ttlMs }) {
      const policy = { ...policyOf({ ttlMs, staleMs: 0, shared }), key: (id) => id };
      return (ids, load) => cache.getOrLoadMany(ids, load, policy);
    },
    close: () => app.close(),
  };
}

/** `together`: nothing that would spread the expiries, for the scenario in which they must fall together. */
function policyOf({ ttlMs, staleMs, together, shared }) {
  return { ttl: ttlMs, stale: staleMs, shared, ...(together && { jitter: 0, earlyRefresh: 0 }) };
}
