/** One process whose refreshes end as they are told to. */
import { type INestApplicationContext, Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cached, StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';

export type Ending = 'rejects' | 'throws' | 'cannot write';

const unhandled: string[] = [];
const events: { key: string; what: string }[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));
process.on('uncaughtException', (reason) => unhandled.push(String(reason)));

let app: INestApplicationContext | undefined;
let ending: Ending | undefined;

@Injectable()
class Products {
  @Cached({ ttl: 50, stale: '1m' })
  // Not `async`: it must be able to throw at once.
  find(_id: string): Promise<string> {
    if (ending === 'throws') throw new Error(ending);
    if (ending === 'rejects') return Promise.reject(new Error(ending));
    return Promise.resolve(ending === undefined ? 'old' : 'new');
  }
}

function here(): INestApplicationContext {
  if (!app) throw new Error('open() comes first');
  return app;
}

export async function open(redis: string): Promise<void> {
  const cache = { redis, namespace: 'field', policy: { ttl: '1m', jitter: 0, earlyRefresh: 0 } } as const;
  const root = {
    module: class AppModule {},
    imports: [StampedeCacheModule.forRoot(cache)],
    providers: [Products],
  };
  app = await NestFactory.createApplicationContext(root, { logger: false });
  app.get(StampedeCacheService).events$.subscribe((event) => {
    if (event.type === 'load.error')
      events.push({ key: event.key, what: `load.error ${messageOf(event.error)}` });
    if (event.type === 'publish') events.push({ key: event.key, what: `publish ${event.result}` });
  });
}

export async function find(id: string): Promise<string> {
  return here().get(Products).find(id);
}

export async function stale(id: string): Promise<boolean> {
  const info = await here().get(StampedeCacheService).of(Products, 'find').inspect(id);
  return info?.state === 'stale';
}

/** What the next loads come to. What happened before is forgotten. */
export function prepare(next: Ending | undefined): void {
  ending = next;
  events.length = 0;
}

export function report(id: string): { unhandled: string[]; events: string[]; refreshes: number } {
  const own = events.filter(({ key }) => key.includes(id)).map(({ what }) => what);
  return { unhandled, events: own, refreshes: here().get(StampedeCacheService).stats().active.refreshes };
}

export async function shutdown(): Promise<void> {
  await app?.close();
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
