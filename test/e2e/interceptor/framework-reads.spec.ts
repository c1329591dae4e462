import { Controller, Get, Headers, Res, type INestApplication } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, isHit, PLATFORMS, type Platform, type Reply } from './kit.js';

let runs = 0;
beforeEach(() => {
  runs = 0;
});

/** What both platforms' requests have. */
interface Headed {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

type Use = (response: never) => unknown;

/** A response as its framework makes it; each call finds what it needs. */
interface Express extends Reply {
  cookie(name: string, value: string, options?: object): void;
  clearCookie(name: string): void;
  location(url: string): void;
  links(links: object): void;
  append(name: string, value: string): void;
  attachment(name: string): void;
  type(name: string): void;
  get(name: string): unknown;
  set(name: string, value: string): void;
  vary(name: string): void;
  format(by: object): void;
  readonly app: object;
}
interface Fastify extends Reply {
  setCookie(name: string, value: string): void;
  flash(): void;
  code(status: number): void;
  headers(all: object): void;
  type(name: string): void;
  getHeaders(): object;
  serialize(value: object): string;
  serializeInput(value: object, schema: object): string;
  getSerializationFunction(schema: object): unknown;
  compileSerializationSchema(schema: object): unknown;
  readonly server: object;
  readonly routeOptions: object;
  readonly elapsedTime: number;
  readonly log: object;
}

const HARMLESS: Readonly<Record<Platform, readonly (readonly [name: string, use: Use])[]>> = {
  express: [
    ['cookie', (response: Express) => response.cookie('a', 'b')],
    ['a signed cookie', (response: Express) => response.cookie('a', 'b', { signed: true })],
    ['clearCookie', (response: Express) => response.clearCookie('a')],
    ['location', (response: Express) => response.location('/there')],
    ['links', (response: Express) => response.links({ next: '/2' })],
    ['append', (response: Express) => response.append('x-a', 'b')],
    ['attachment', (response: Express) => response.attachment('a.json')],
    ['type', (response: Express) => response.type('json')],
    ['set and get', (response: Express) => [response.set('x-a', 'b'), response.get('x-a')]],
    ['vary by a declared header', (response: Express) => response.vary('Accept')],
    ['status', (response: Express) => response.status(203)],
    ['app', (response: Express) => response.app],
  ],
  fastify: [
    ['setCookie', (response: Fastify) => response.setCookie('a', 'b')],
    ['code', (response: Fastify) => response.code(203)],
    ['headers', (response: Fastify) => [response.headers({ 'x-a': 'b' }), response.getHeaders()]],
    ['type', (response: Fastify) => response.type('application/json')],
    ['server', (response: Fastify) => response.server],
    ['routeOptions', (response: Fastify) => response.routeOptions],
    ['elapsedTime and log', (response: Fastify) => [response.elapsedTime, response.log]],
    ['serialize', (response: Fastify) => response.serialize({})],
    ['serializeInput', (response: Fastify) => response.serializeInput({}, { type: 'object' })],
    [
      'serialization functions',
      (response: Fastify) => [
        response.getSerializationFunction({ type: 'object' }),
        response.compileSerializationSchema({ type: 'object' }),
      ],
    ],
  ],
};

/** They hand the request, or what it holds, to the handler. */
const TELLING: typeof HARMLESS = {
  express: [['format', (response: Express) => response.format({ json: () => undefined })]],
  fastify: [['a decorator that looks at the request', (response: Fastify) => response.flash()]],
};

/** The secret of a cookie parser; what plugins add to replies. */
const prepare = (platform: Platform) => (app: INestApplication) => {
  if (platform === 'express') {
    app.use((request: { secret: string }, _: unknown, next: () => void) => {
      request.secret = 'secret';
      next();
    });
    return;
  }
  const instance = app.getHttpAdapter().getInstance() as {
    decorateReply(name: string, value: unknown): void;
  };
  instance.decorateReply('setCookie', function (this: Fastify & { request: { protocol: string } }) {
    if (this.request.protocol === 'http') this.header('set-cookie', 'a=b');
  });
  instance.decorateReply('flash', function (this: Fastify & { request: Headed }) {
    return this.request.headers['x-flash'];
  });
};

describe.each(PLATFORMS)('What the framework itself reads of a request, on %s', (platform) => {
  const { serve } = host(platform);

  async function start(use: Use) {
    @Controller()
    class Uses {
      @Get()
      @CachedRoute()
      find(@Headers('accept') _accept: string, @Res({ passthrough: true }) response: Reply) {
        use(response as never);
        return { run: (runs += 1) };
      }
    }
    return serve({ controllers: [Uses], providers: [EVERYWHERE], prepare: prepare(platform) });
  }

  it.each(HARMLESS[platform])('is no input of the handler: %s', async (_name, use) => {
    const site = await start(use);
    expect([isHit(await site.get('/')), isHit(await site.get('/')), runs]).toEqual([false, true, 1]);
    expect(site.warnings(/takes the request/)).toEqual([]);
  });

  it.each(TELLING[platform])('may be one: %s', async (_name, use) => {
    const site = await start(use);
    expect([isHit(await site.get('/')), isHit(await site.get('/')), runs]).toEqual([false, false, 2]);
    expect(site.warnings(/Uses\.find: the handler takes the request/)).toHaveLength(1);
  });
});
