import { request, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Catch, type ArgumentsHost, type INestApplication, type ModuleMetadata } from '@nestjs/common';
import { APP_INTERCEPTOR, BaseExceptionFilter } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import {
  StampedeCacheInterceptor,
  StampedeCacheModule,
  StampedeCacheService,
  type StampedeCacheEvent,
  type StampedeCacheModuleOptions,
} from 'nestjs-stampede-cache';
import { until } from '../../support/until.js';
import { Lines } from '../kit.js';

export const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** The interceptor for the whole application. */
export const EVERYWHERE = { provide: APP_INTERCEPTOR, useClass: StampedeCacheInterceptor };

/** What Express' response and Fastify's reply have in common. */
export interface Reply {
  status(code: number): Reply;
  header(name: string, value: string | string[]): Reply;
  send(body: unknown): unknown;
  redirect(url: string): unknown;
}

/** What both platforms' requests have in common. */
export interface Incoming {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: { readonly id: string };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

export interface SiteOptions extends ModuleMetadata {
  readonly cache?: StampedeCacheModuleOptions;
  /** What the application is created with. */
  readonly settings?: object;
  /** Before it listens: prefixes, versions, view engines. */
  readonly prepare?: (app: INestApplication) => void;
}

/** Silence of a server that is no busy machine any more, ms. */
const HANGS_AFTER = 10_000;

/** Sends a request without any header but `Host` and `Connection`. */
export function ask(
  url: string,
  options: Ask = {},
  sent?: (request: ClientRequest) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    const headers = { ...(body !== undefined && { 'content-type': 'application/json' }), ...options.headers };
    const outgoing = request(url, { agent: false, method: options.method ?? 'GET', headers });
    outgoing.once('error', reject);
    outgoing.setTimeout(HANGS_AFTER, () => outgoing.destroy(new Error(`no answer to ${url}`)));
    outgoing.once('response', (response) => void read(response).then(resolve, reject));
    outgoing.end(body);
    sent?.(outgoing);
  });
}

async function read(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  // A stream without an encoding yields Buffers.
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return { status: response.statusCode ?? 0, headers: response.headers, bytes, text: bytes.toString() };
}

/** A running application, and its client. */
export class Site {
  readonly events: StampedeCacheEvent[] = [];
  readonly errors: Error[] = [];
  readonly cache: StampedeCacheService;

  constructor(
    readonly app: INestApplication,
    readonly url: string,
    readonly lines: Lines,
  ) {
    this.cache = app.get(StampedeCacheService);
    this.cache.events$.subscribe((event) => void this.events.push(event));
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.ask(path, { headers });
  }

  ask(path: string, options?: Ask): Promise<Answer> {
    return ask(this.url + path, options);
  }

  /** A request whose client can go away. */
  leaving(path: string): { readonly answer: Promise<Answer>; leave(): void } {
    let outgoing: ClientRequest | undefined;
    const answer = ask(this.url + path, {}, (sent) => (outgoing = sent));
    answer.catch(() => undefined);
    return { answer, leave: () => outgoing?.destroy() };
  }

  /** How many responses have been stored. */
  get stored(): number {
    return this.events.filter((event) => event.type === 'publish' && event.result === 'stored').length;
  }

  /** Waits until so many requests wait for one answer. */
  async waiting(callers: number): Promise<void> {
    await until(() => this.cache.stats().active.callers === callers, { what: `${callers} callers to wait` });
  }

  warnings(about: RegExp): string[] {
    return this.lines.ofCache('warn').filter((line) => about.test(line));
  }
}

/** Answers as Nest does, and keeps what handlers and interceptors threw. */
@Catch()
class Witness extends BaseExceptionFilter {
  readonly errors: Error[] = [];

  override catch(error: Error, host: ArgumentsHost): void {
    this.errors.push(error);
    // oxlint-disable-next-line promise/valid-params -- an exception filter's
    super.catch(error, host);
  }
}

/** Applications on one platform, with the in-process store, closed after each test. */
export function host(platform: Platform) {
  const open: INestApplication[] = [];
  afterEach(async () => {
    for (const app of open.splice(0)) await app.close();
  });

  async function create({ cache, imports = [], prepare, settings = {}, ...rest }: SiteOptions, lines: Lines) {
    const options = {
      ...cache,
      policy: { ttl: '60s', jitter: 0, earlyRefresh: 0, ...cache?.policy },
    } as const;
    const builder = Test.createTestingModule({
      imports: [StampedeCacheModule.forRoot(options), ...imports],
      ...rest,
    });
    const module = await builder.setLogger(lines).compile();
    // The overloads of createNestApplication don't accept an adapter that may be missing.
    const app: INestApplication =
      platform === 'fastify'
        ? module.createNestApplication(new FastifyAdapter() as never, settings)
        : module.createNestApplication(settings);
    prepare?.(app);
    return app;
  }

  return {
    serve: async (options: SiteOptions): Promise<Site> => {
      const lines = new Lines();
      const app = await create(options, lines);
      const witness = new Witness(app.getHttpAdapter());
      app.useGlobalFilters(witness);
      open.push(app);
      await app.listen(0, '127.0.0.1');
      const site = new Site(app, await app.getUrl(), lines);
      return Object.assign(site, { errors: witness.errors });
    },

    /** What starting fails with. */
    bootError: async (options: SiteOptions): Promise<Error> => {
      const app = await create(options, new Lines());
      try {
        await app.init();
      } catch (error) {
        if (error instanceof Error) return error;
        throw error;
      }
      open.push(app);
      throw new Error('The application started.');
    },
  };
}

/** What may differ between two answers from one entry. */
const OWN = new Set(['cache-status', 'age', 'date', 'connection', 'keep-alive']);

/** What must be equal in all answers from one entry. */
export function shared({ status, headers, text }: Answer): object {
  return {
    status,
    text,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.has(name))),
  };
}

export const isHit = ({ headers }: Answer): boolean => /;\s*hit\b/.test(String(headers['cache-status']));
