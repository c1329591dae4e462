/** One process of a fleet: a Nest application with the cache, whose loads are written into the books in Redis. */
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type INestApplicationContext, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import {
  Cached,
  StampedeCacheModule,
  StampedeCacheService,
  type EntryInfo,
  type StampedeCacheModuleOptions,
  type StampedeCacheStats,
} from 'nestjs-stampede-cache';
import { describeError, type RemoteError } from '../../support/worker-protocol.js';

export interface WorkerSetup {
  /** Where this process finds the cache's Redis; it may be a proxy. */
  readonly cacheUrl: string;
  /** Where the books are. */
  readonly booksUrl: string;
  readonly cache?: StampedeCacheModuleOptions;
  /** The name under which the method keeps its entries. */
  readonly name?: string;
  readonly version?: number;
  readonly tags?: readonly string[];
  /** By how much this process's wall clock is wrong, ms. */
  readonly clockSkew?: number;
  readonly shutdownHooks?: boolean;
}

export interface Product {
  readonly id: string;
  /** Which load of this product it came from, from 1. */
  readonly serial: number;
  /** The process that loaded it. */
  readonly by: number;
}

export interface Reply {
  readonly value?: Product;
  readonly error?: RemoteError;
  /** From the call to its end, ms. */
  readonly took: number;
}

interface Products {
  find(id: string, ms: number): Promise<Product>;
}

interface State {
  readonly app: INestApplicationContext;
  readonly cache: StampedeCacheService;
  readonly type: Type<Products>;
  readonly books: Redis;
  readonly unhandled: string[];
}

const index = Number(process.env['WORKER_INDEX']);
const running = { now: 0, peak: 0 };
let state: State | undefined;

function here(): State {
  if (!state) throw new Error('open() comes first');
  return state;
}

function productsOf({ name = 'products', version, tags }: WorkerSetup, books: Redis): Type<Products> {
  @Injectable()
  class ProductsService implements Products {
    @Cached({ name, version, tags, key: (id) => id })
    async find(id: string, ms: number): Promise<Product> {
      running.now += 1;
      running.peak = Math.max(running.peak, running.now);
      try {
        const serial = await books.rpush(`books:${id}`, index);
        await delay(ms);
        await books.incr(`ends:${id}`);
        return { id, serial, by: index };
      } finally {
        running.now -= 1;
      }
    }
  }
  return ProductsService;
}

export async function open(setup: WorkerSetup): Promise<void> {
  const { cacheUrl, booksUrl, cache, clockSkew = 0 } = setup;
  const unhandled: string[] = [];
  process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));
  if (clockSkew !== 0) {
    const now = Date.now.bind(Date);
    Date.now = () => now() + clockSkew;
  }
  const books = new Redis(booksUrl, { disconnectTimeout: 50 });
  books.on('error', () => undefined);
  const type = productsOf(setup, books);
  const options = { ...cache, redis: cacheUrl };
  const module = {
    module: class AppModule {},
    imports: [StampedeCacheModule.forRoot(options)],
    providers: [type],
  };
  const app = await NestFactory.createApplicationContext(module, { logger: false });
  if (setup.shutdownHooks) app.enableShutdownHooks();
  state = { app, cache: app.get(StampedeCacheService), type, books, unhandled };
}

/** Calls the method so many times at once. */
export async function burst(id: string, callers: number, ms: number): Promise<Reply[]> {
  return Promise.all(Array.from({ length: callers }, () => one(id, ms)));
}

/** Calls it once for each id, all at once. */
export async function each(ids: readonly string[], ms: number): Promise<Reply[]> {
  return Promise.all(ids.map((id) => one(id, ms)));
}

export async function invalidate(id: string, holdOff?: number): Promise<void> {
  const handle = here().cache.of(here().type, 'find');
  await (holdOff === undefined ? handle.invalidate(id, 0) : handle.invalidate(id, 0, { holdOff }));
}

export function invalidateTags(...tags: string[]): Promise<void> {
  return here().cache.invalidateTags(...tags);
}

export function expireTags(...tags: string[]): Promise<void> {
  return here().cache.expireTags(...tags);
}

export function clear(): Promise<void> {
  return here().cache.clear();
}

export function inspect(id: string): Promise<EntryInfo | null> {
  return here().cache.of(here().type, 'find').inspect(id, 0);
}

/** The text inside the hash tag of the names of the product's keys. */
export function keyOf(id: string): string {
  return here().cache.of(here().type, 'find').key(id, 0);
}

/** The most loads that ever ran at once here. */
export function peak(): number {
  return running.peak;
}

export function stats(): StampedeCacheStats {
  return here().cache.stats();
}

export function unhandled(): readonly string[] {
  return here().unhandled;
}

export async function shutdown(): Promise<void> {
  if (!state) return;
  await state.app.close();
  state.books.disconnect();
}

async function one(id: string, ms: number): Promise<Reply> {
  const began = performance.now();
  const { app, type } = here();
  try {
    const value = await app.get<Products>(type).find(id, ms);
    return { value, took: performance.now() - began };
  } catch (error) {
    return { error: describeError(error), took: performance.now() - began };
  }
}
