/** One process of a shop: a Nest application with the module, a cached method, and calls by hand. */
import 'reflect-metadata';
import { type INestApplicationContext, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cached, StampedeCacheModule, StampedeCacheService } from '../../../lib/index.js';
import { describeError } from '../../support/worker-protocol.js';
import { DataSource, type LoadPlan, type Row } from './data-source.js';
import type { Reply } from './fleet.worker.js';
import { machineNow } from './machine-clock.js';
import { PlainCache } from './plain-cache.js';

const LOAD_MS = 100;
const index = Number(process.env['WORKER_INDEX']);

@Injectable()
class Products {
  constructor(private readonly source: DataSource) {}

  @Cached({ ttl: '1m' })
  async find(id: string): Promise<Row> {
    return this.source.load(`find:${id}`, { ms: LOAD_MS });
  }
}

interface State {
  readonly app: INestApplicationContext;
  readonly products: Products;
  readonly cache: StampedeCacheService;
  readonly source: DataSource;
  readonly plain: PlainCache;
}

let state: State | undefined;

function here(): State {
  if (!state) throw new Error('open() comes first');
  return state;
}

export async function open(redis: string, sourcePort: number): Promise<void> {
  const source = new DataSource(sourcePort, index);
  const plain = new PlainCache(redis, source);
  @Module({
    // Patient: noise of a busy machine must not count as "Redis is down".
    imports: [StampedeCacheModule.forRoot({ redis, namespace: 'shop', redisTimeout: '2s' })],
    providers: [{ provide: DataSource, useValue: source }, Products],
  })
  class Shop {}
  const app = await NestFactory.createApplicationContext(Shop, { logger: ['error', 'warn'] });
  state = { app, products: app.get(Products), cache: app.get(StampedeCacheService), source, plain };
}

export function plainReads(key: string, callers: number): Promise<number> {
  return here().plain.reads(key, callers);
}

export function plainLoads(key: string, missed: number, plan: LoadPlan): Promise<void> {
  return here().plain.loads(key, missed, plan);
}

/** Calls the cached method so many times at once. */
export function find(id: string, callers: number): Promise<Reply[]> {
  return repliesOf(callers, () => here().products.find(id));
}

/** Calls the service so many times at once. */
export function getOrLoad(key: string, callers: number): Promise<Reply[]> {
  const { cache, source } = here();
  const load = (): Promise<Row> => source.load(`key:${key}`, { ms: LOAD_MS });
  return repliesOf(callers, () => cache.getOrLoad(key, load, { ttl: '1m' }));
}

export async function invalidate(id: string, key: string): Promise<void> {
  const { cache } = here();
  await Promise.all([cache.of(Products, 'find').invalidate(id), cache.invalidate(key)]);
}

export async function shutdown(): Promise<void> {
  await state?.app.close();
  state?.source.close();
  state?.plain.close();
}

async function repliesOf(callers: number, call: () => Promise<Row>): Promise<Reply[]> {
  const one = async (): Promise<Reply> => {
    const began = machineNow();
    try {
      return { value: await call(), began, ended: machineNow() };
    } catch (error) {
      return { error: { ...describeError(error), instance: 0, known: false }, began, ended: machineNow() };
    }
  };
  const replies = await Promise.all(Array.from({ length: callers }, one));
  await here().source.settled();
  return replies;
}
