import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import type { Redis } from 'ioredis';
import { StampedeCacheModule, type StampedeCacheModuleOptions } from 'nestjs-stampede-cache';
import { RedisServer } from '../../support/redis-server.js';
import { App } from './app.js';
import { Lines } from './lines.js';

export interface AppOptions extends ModuleMetadata {
  /** Over the options that every application here has. */
  readonly cache?: StampedeCacheModuleOptions;
}

/** First part of every key of these applications. */
export const NAMESPACE = 'field';

/** Noise of a busy machine must not count as "Redis is down", and chance is asked for only where it is the point. */
const CALM: StampedeCacheModuleOptions = {
  namespace: NAMESPACE,
  redisTimeout: '2s',
  redisWriteTimeout: '5s',
};
const CERTAIN = { ttl: '1m', jitter: 0, earlyRefresh: 0 } as const;

/**
 * A real Redis for one spec, empty at the start of each test, and any number of applications on it. Two applications of
 * one process share nothing but Redis: each has its own connections, flights and load guard.
 */
export class Field {
  readonly lines = new Lines();
  private server: RedisServer | undefined;
  private client: Redis | undefined;
  private closers: (() => Promise<unknown>)[] = [];

  get redis(): RedisServer {
    if (!this.server) throw new Error('the server runs from beforeAll to afterAll');
    return this.server;
  }

  /** A client of the test's own, to look behind the cache. */
  get raw(): Redis {
    if (!this.client) throw new Error('the client lives from beforeAll to afterAll');
    return this.client;
  }

  async open(): Promise<void> {
    this.server = await RedisServer.start();
    this.client = this.server.client();
  }

  async reset(): Promise<void> {
    for (const close of this.closers.splice(0)) await close();
    this.lines.clear();
    if (this.redis.running) await this.raw.flushall();
  }

  async close(): Promise<void> {
    await this.server?.stop();
  }

  /** `close` runs at the end of the test, after that of what was begun later. */
  atEnd(close: () => Promise<unknown>): void {
    this.closers.unshift(close);
  }

  /** Starts an application without HTTP. It is closed at the end of the test. */
  async app(options: AppOptions = {}): Promise<App<TestingModule>> {
    return new App(await this.boot(this.withCache(options)));
  }

  /** The same with HTTP; `supertest(app.nest.getHttpServer())` talks to it. */
  async http(options: AppOptions = {}): Promise<App<INestApplication>> {
    const module = await this.compile(this.withCache(options));
    const app = await module.createNestApplication().init();
    this.atEnd(() => app.close());
    return new App(app);
  }

  /** Starts exactly what is given: the test imports the module itself. */
  async boot(metadata: ModuleMetadata): Promise<TestingModule> {
    const module = await this.compile(metadata);
    // One that failed to start is not closed: it has to give back by itself what it took.
    await module.init();
    this.atEnd(() => module.close());
    return module;
  }

  /** What starting fails with. */
  async bootError(metadata: ModuleMetadata): Promise<Error> {
    try {
      await this.boot(metadata);
    } catch (error) {
      if (error instanceof Error) return error;
      throw error;
    }
    throw new Error('The application started.');
  }

  /** The options every application here has, with more. */
  options(more: StampedeCacheModuleOptions = {}): StampedeCacheModuleOptions {
    return { ...CALM, redis: this.redis.url, ...more, policy: { ...CERTAIN, ...more.policy } };
  }

  withCache({ cache, imports = [], ...rest }: AppOptions): ModuleMetadata {
    return { ...rest, imports: [StampedeCacheModule.forRoot(this.options(cache)), ...imports] };
  }

  /** The names of all entries in Redis. */
  async entries(namespace = NAMESPACE): Promise<string[]> {
    return (await this.raw.keys(`${namespace}:d:*`)).sort();
  }

  /** The one entry in Redis. */
  async entry(): Promise<string> {
    const [name, ...others] = await this.entries();
    if (name === undefined || others.length > 0) {
      throw new Error(`expected one entry, found ${[name, ...others].join(', ')}`);
    }
    return name;
  }

  /** How long the one entry in Redis still lives, ms. */
  async pttl(): Promise<number> {
    return this.raw.pttl(await this.entry());
  }

  /** The names of the leases of loads under way; the record that an ended one leaves for a while is none. */
  async leases(): Promise<string[]> {
    const names = await this.raw.keys(`${NAMESPACE}:l:*`);
    const states = await Promise.all(names.map((name) => this.raw.getrange(name, 0, 0)));
    return names.filter((_, index) => states[index] === 'L');
  }

  private compile(metadata: ModuleMetadata): Promise<TestingModule> {
    return Test.createTestingModule(metadata).setLogger(this.lines).compile();
  }
}

/** A field for the tests of one file. */
export function field(): Field {
  const one = new Field();
  beforeAll(() => one.open(), 30_000);
  afterEach(() => one.reset(), 30_000);
  afterAll(() => one.close(), 30_000);
  return one;
}
