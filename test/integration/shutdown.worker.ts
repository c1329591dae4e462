/** One process of the shutdown specs: a small Nest application with the cache on a real Redis. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  Controller,
  Get,
  type DynamicModule,
  type INestApplication,
  type LoggerService,
  Param,
  type Provider,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import {
  Cached,
  StampedeCacheModule,
  StampedeCacheService,
  type StampedeCacheModuleOptions,
} from 'nestjs-stampede-cache';

/** Where a bootstrap fails, and what was connected by then. */
export type Failure =
  | 'early call, then a factory that throws'
  | 'early call, then onModuleInit that throws'
  | 'onApplicationBootstrap of another module'
  | 'our ConfigurationError'
  | 'requireRedis';

const lines: string[] = [];
const unhandled: string[] = [];
const warnings: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));
process.on('uncaughtException', (reason) => unhandled.push(String(reason)));
process.on('warning', (warning) => warnings.push(`${warning.name}: ${warning.message}`));

const keep = (message: unknown): void => void lines.push(String(message));
const logger: LoggerService = { log: keep, warn: keep, error: keep };

@Controller()
class Products {
  @Get('find/:id/:ms')
  @Cached({ ttl: '1m', key: (id) => id })
  async find(@Param('id') id: string, @Param('ms') ms: string): Promise<{ id: string }> {
    await delay(Number(ms));
    return { id };
  }

  /** Stale after the first load; the second takes `ms`, or never ends. */
  @Get('refreshed/:id/:ms')
  @Cached({ ttl: 1, stale: '1m', key: (id) => id })
  async refreshed(@Param('id') id: string, @Param('ms') ms: string): Promise<{ id: string }> {
    if (ms === 'never') await new Promise(() => undefined);
    await delay(Number(ms));
    return { id };
  }
}

let app: INestApplication | undefined;

function here(): INestApplication {
  if (!app) throw new Error('open() comes first');
  return app;
}

function moduleOf(options: StampedeCacheModuleOptions, providers: Provider[] = []): DynamicModule {
  const cache = { namespace: 'shop', policy: { ttl: '1m', jitter: 0, earlyRefresh: 0 }, ...options } as const;
  return {
    module: class AppModule {},
    imports: [StampedeCacheModule.forRoot(cache)],
    controllers: [Products],
    providers,
  };
}

/** Listens on a free port, and heeds SIGTERM. */
export async function open(options: StampedeCacheModuleOptions): Promise<string> {
  app = await NestFactory.create(moduleOf(options), { logger, abortOnError: false });
  app.enableShutdownHooks(['SIGTERM'], { useProcessExit: true });
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

/** Closes it `times` at once, then once more. How long the first lot took, ms. */
export async function close(times = 1): Promise<number> {
  const began = performance.now();
  await Promise.all(Array.from({ length: times }, () => here().close()));
  const took = performance.now() - began;
  await here().close();
  return took;
}

/** How many callers wait for a value. */
export function callers(): number {
  return here().get(StampedeCacheService).stats().active.callers;
}

/** What a call does to a cache that is closed, or whose Redis is away. */
export async function invalidate(id: string): Promise<string> {
  const cache = here().get(StampedeCacheService);
  return cache
    .of(Products, 'find')
    .invalidate(id, '0')
    .then(
      () => 'done',
      (error: Error) => error.name,
    );
}

/** Starts an application that can't start. What it failed with, and what it left behind on the client handed in. */
export async function failToStart(
  failure: Failure,
  redis: string,
  shared: boolean,
): Promise<{ error: string; before: object; after: object }> {
  const client = shared ? new Redis(redis, { disconnectTimeout: 50, maxRetriesPerRequest: 1 }) : undefined;
  client?.on('error', () => undefined);
  if (client) await client.ping().catch(() => undefined);
  const before = listenersOf(client);
  const options = { redis: client ?? redis, requireRedis: failure === 'requireRedis' };
  const root = moduleOf(options, breaking(failure));
  const error = await NestFactory.createApplicationContext(root, { logger, abortOnError: false }).then(
    () => 'it started',
    (thrown: Error) => thrown.message,
  );
  // Whoever notices the failure in passing has this long to let go.
  const until = performance.now() + 3_000;
  while (JSON.stringify(listenersOf(client)) !== JSON.stringify(before) && performance.now() < until)
    await delay(10);
  const after = listenersOf(client);
  client?.disconnect();
  return { error, before, after };
}

/** Applications one after another on one client: how many listeners it had before and has after. */
export async function manyOn(redis: string, count: number): Promise<{ before: object; after: object }> {
  const client = new Redis(redis, { disconnectTimeout: 50 });
  await client.ping();
  const before = listenersOf(client);
  for (let i = 0; i < count; i++) {
    const one = await NestFactory.createApplicationContext(moduleOf({ redis: client }), {
      logger: false,
      abortOnError: false,
    });
    await one.get(StampedeCacheService).getOrLoad(i, () => i);
    await one.close();
  }
  const after = listenersOf(client);
  client.disconnect();
  return { before, after };
}

/** A testing module that is compiled, perhaps closed, and never initialised. */
export async function compileOnly(redis: string, closed: boolean): Promise<void> {
  const module = await Test.createTestingModule({ imports: [moduleOf({ redis })] }).compile();
  if (closed) await module.close();
}

/** What Node still waits for, the pipes to the parent left out. */
export function resources(): readonly string[] {
  return process.getActiveResourcesInfo().filter((name) => !['PipeWrap', 'Immediate'].includes(name));
}

export function report(): {
  lines: readonly string[];
  unhandled: readonly string[];
  warnings: readonly string[];
} {
  return { lines, unhandled, warnings };
}

function breaking(failure: Failure): Provider[] {
  const fail = (): never => {
    throw new Error('another provider failed');
  };
  switch (failure) {
    case 'early call, then a factory that throws':
      return [{ provide: 'early', inject: [StampedeCacheService], useFactory: (c) => early(c).then(fail) }];
    case 'early call, then onModuleInit that throws':
      return [
        {
          provide: 'early',
          inject: [StampedeCacheService],
          useFactory: async (cache: StampedeCacheService) => {
            await early(cache);
            return { onModuleInit: fail };
          },
        },
      ];
    case 'onApplicationBootstrap of another module':
      return [{ provide: 'late', useValue: { onApplicationBootstrap: fail } }];
    case 'our ConfigurationError':
      return [
        Bad,
        {
          provide: 'early',
          inject: [StampedeCacheService],
          useFactory: (c: StampedeCacheService) => early(c),
        },
      ];
    case 'requireRedis':
      return [];
  }
}

class Bad {
  @Cached({ ttl: 'x' as '1s' })
  async find(): Promise<number> {
    return 1;
  }
}

const early = (cache: StampedeCacheService): Promise<number> => cache.getOrLoad('k', () => 1);

function listenersOf(client: Redis | undefined): Record<string, number> {
  if (client === undefined) return {};
  return Object.fromEntries(client.eventNames().map((name) => [String(name), client.listenerCount(name)]));
}
