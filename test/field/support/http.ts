import type { Server } from 'node:http';
import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { StampedeCacheInterceptor } from 'nestjs-stampede-cache';
import { App } from './app.js';
import type { AppOptions, Field } from './field.js';

export const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** The interceptor for the whole application. */
export const EVERYWHERE = { provide: APP_INTERCEPTOR, useClass: StampedeCacheInterceptor };

/** An application of the field that listens, and its address. */
export interface Served {
  readonly app: App<INestApplication>;
  readonly url: string;
}

/** Starts an application on one of the platforms, with the cache. It is closed at the end of the test. */
export function serve(here: Field, platform: Platform, options: AppOptions): Promise<Served> {
  return listen(here, platform, here.withCache(options));
}

/** Starts exactly what is given. */
export async function listen(here: Field, platform: Platform, metadata: ModuleMetadata): Promise<Served> {
  const nest = await create(here, platform, metadata);
  await nest.listen(0, '127.0.0.1');
  here.atEnd(async () => {
    // Idle connections of a test's clients would delay the end by seconds.
    (nest.getHttpServer() as Server).closeAllConnections();
    await nest.close();
  });
  return { app: new App(nest), url: await nest.getUrl() };
}

/** Neither started nor closed here: for those who only look at its routes. */
export async function create(
  here: Field,
  platform: Platform,
  metadata: ModuleMetadata,
): Promise<INestApplication> {
  const module = await Test.createTestingModule(metadata).setLogger(here.lines).compile();
  // The overloads of createNestApplication don't accept an adapter that may be missing.
  return platform === 'fastify'
    ? module.createNestApplication(new FastifyAdapter() as never)
    : module.createNestApplication();
}
