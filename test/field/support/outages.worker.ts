/** One process whose Redis comes and goes. Nothing but the package sees its errors. */
import { Injectable, type INestApplicationContext, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cached, StampedeCacheModule } from 'nestjs-stampede-cache';

export interface Told {
  readonly values: number;
  readonly errors: readonly string[];
  readonly changes: { readonly up: number; readonly down: number };
  readonly unhandled: readonly string[];
  readonly lines: readonly string[];
}

const lines: string[] = [];
const unhandled: string[] = [];
const errors: string[] = [];
let values = 0;
let app: INestApplicationContext | undefined;

process.on('uncaughtException', (error) => unhandled.push(String(error)));
process.on('unhandledRejection', (error) => unhandled.push(String(error)));

@Injectable()
class Products {
  @Cached({ ttl: '1m' })
  async find(id: string): Promise<string> {
    return id;
  }
}

export async function open(redis: string): Promise<void> {
  const keep = (message: unknown, context: unknown): void => {
    if (context === 'StampedeCache') lines.push(String(message));
  };
  const logger: LoggerService = { log: keep, warn: keep, error: keep };
  const cache = StampedeCacheModule.forRoot({ redis, namespace: 'field' });
  const root = { module: class AppModule {}, imports: [cache], providers: [Products] };
  app = await NestFactory.createApplicationContext(root, { logger });
}

/** Five calls at once, of which some miss. What has happened so far. */
export async function ask(id: string): Promise<Told> {
  if (!app) throw new Error('open() comes first');
  const products = app.get(Products);
  const outcomes = await Promise.allSettled(
    [0, 1, 2, 0, 1].map((index) => products.find(`${id}-${index}-${values}`)),
  );
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') values += 1;
    else errors.push(String(outcome.reason));
  }
  const count = (what: RegExp): number => lines.filter((line) => what.test(line)).length;
  return {
    values,
    errors,
    changes: { up: count(/Redis is up/), down: count(/Redis is down/) },
    unhandled,
    lines,
  };
}

export async function shutdown(): Promise<void> {
  await app?.close();
}
