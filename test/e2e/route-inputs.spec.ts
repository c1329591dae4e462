import {
  type CallHandler,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Headers,
  HostParam,
  type INestApplication,
  Ip,
  type NestInterceptor,
  Param,
  Query,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import * as common from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { from, map, mergeMap, type Observable } from 'rxjs';
import { encodeParts } from '../../lib/core/keys/index.js';
import type { HttpOptions } from '../../lib/nest/interfaces/http-options.interface.js';
import type { InputReader } from '../../lib/nest/route/contracts.js';
import { credentialsOf, resolveHttpInputs } from '../../lib/nest/route/inputs/index.js';

/** What a request looked like to the reader, beside what the handler was given. */
interface Answer {
  readonly parts: readonly unknown[];
  readonly args: readonly unknown[];
  readonly key: string;
  readonly isCovered: boolean;
  readonly handler: readonly unknown[];
}

/** Answers with what the reader says and what the handler returned: its arguments. */
class Reading implements NestInterceptor {
  static http: HttpOptions = {};
  private reader: InputReader | undefined;

  intercept(context: ExecutionContext, next: CallHandler<readonly unknown[]>): Observable<unknown> {
    this.reader ??= resolveHttpInputs({
      prototype: context.getClass().prototype as object,
      method: context.getHandler().name,
      http: Reading.http,
      isRequestScoped: false,
      where: 'test',
      warn: () => undefined,
    }).reader;
    const request = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>();
    const credentials = credentialsOf(request, ['authorization', 'cookie']);
    const reading = Promise.resolve(this.reader.read(context, credentials));
    return from(reading).pipe(
      mergeMap((read) =>
        next.handle().pipe(
          map((handler) => ({
            parts: read?.parts.map(shown),
            args: read?.args.map(shown),
            key: read && encodeParts(read.parts),
            isCovered: read?.isCovered,
            handler: handler.map(shown),
          })),
        ),
      ),
    );
  }
}

/** JSON drops undefined, functions and prototypes: what is compared must show them. */
function shown(value: unknown): unknown {
  if (value === undefined) return '(undefined)';
  return typeof value === 'function' ? '(function)' : value;
}

const Host = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<{ hostname: string }>().hostname,
);
const Later = createParamDecorator(async (data: unknown) => Promise.resolve(data));
const Token = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
  return headers['authorization'];
});
const RawUser = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<{ user?: unknown; raw?: { user?: unknown } }>();
  return request.user ?? request.raw?.user;
});

const platforms = { express: undefined, fastify: () => new FastifyAdapter() };

describe.each(['express', 'fastify'] as const)('Declared inputs on %s', (platform) => {
  const open: INestApplication[] = [];
  afterEach(async () => {
    Reading.http = {};
    for (const app of open.splice(0)) await app.close();
  });

  async function serve(controller: Type, prepare: (app: INestApplication) => void = () => undefined) {
    UseInterceptors(Reading)(controller);
    const module = await Test.createTestingModule({ controllers: [controller] }).compile();
    const adapter = platforms[platform]?.();
    const app: INestApplication = adapter
      ? module.createNestApplication(adapter as never, { logger: false })
      : module.createNestApplication({ logger: false });
    open.push(app);
    prepare(app);
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo; // it listens on a port
    // Not fetch, which sets headers of its own and keeps Host for itself.
    return (path: string, headers: Record<string, string> = {}) =>
      new Promise<Answer>((resolve, reject) => {
        const sent = send({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.on('end', () => resolve(JSON.parse(text) as Answer));
        });
        sent.on('error', reject).end();
      });
  }

  it('are what the handler is given, before pipes', async () => {
    @Controller('shops/:shop')
    class Products {
      @Get('products/:id')
      find(
        @Param('id') id: unknown,
        @Query('page') page: unknown,
        @Query('__proto__') odd: unknown,
        @Headers('X-Region') region: unknown,
        @HostParam('tenant') tenant: unknown,
        @Host() host: unknown,
        @Later('later') later: unknown,
        @Param() params: unknown,
        @Query('constructor') inherited: unknown,
      ) {
        return [id, page, odd, region, tenant, host, later, params, inherited];
      }
    }
    const get = await serve(Products);
    for (const path of [
      '/shops/a/products/5',
      '/shops/a/products/5?page=',
      '/shops/a/products/5?page=1',
      '/shops/a/products/5?page=1&page=2',
      '/shops/a/products/a%2Fb%20%C3%A9?page=%27%2C%3A&__proto__=x&constructor=y',
    ]) {
      for (const headers of [undefined, { 'x-region': 'EU', host: 'shop.test' }]) {
        const answer = await get(path, headers);
        expect(answer.args).toEqual(answer.handler);
        const [, page, , region, tenant, host, later, params, inherited] = answer.handler;
        const parts = answer.parts.filter((_, i) => i % 2 === 1);
        expect(parts[0]).toEqual(page);
        expect(parts.slice(2, 4)).toEqual([region, tenant]);
        expect(parts[4]).toEqual(params);
        expect(parts[5]).toEqual(inherited === '(function)' ? '(undefined)' : inherited);
        expect(parts.slice(6)).toEqual([host, later]);
      }
    }
  });

  it('make one key of a whole query in any order, and several of what differs', async () => {
    @Controller()
    class Products {
      @Get()
      find(@Query() query: unknown) {
        return [query];
      }
    }
    const get = await serve(Products);
    const keys = async (...paths: string[]) =>
      new Set(await Promise.all(paths.map(async (path) => (await get(path)).key))).size;
    expect(await keys('/?a=1&b=2', '/?b=2&a=1', '/?b=%32&a=%31')).toBe(1);
    expect(await keys('/', '/?a=', '/?a=1', '/?a=1&a=2', '/?a=2&a=1', '/?a=1&b=2', '/?a=1%262')).toBe(7);
    const answer = await get('/?a=1&b=2');
    expect(answer.args).toEqual(answer.handler);
  });

  it('have the same cookies as Nest', async () => {
    @Controller()
    class Products {
      @Get()
      find(@Ip() ip: unknown) {
        return [ip];
      }
    }
    // Since NestJS 12; on 11 the key is read, and there is nothing to compare with.
    const { Cookies } = common as { Cookies?: (name: string) => ParameterDecorator };
    class Baskets {
      find(...cookies: unknown[]) {
        return cookies;
      }
    }
    Cookies?.('theme')(Baskets.prototype, 'find', 0);
    Cookies?.('toString')(Baskets.prototype, 'find', 1);
    Controller()(Baskets);
    Get()(Baskets.prototype, 'find', Object.getOwnPropertyDescriptor(Baskets.prototype, 'find') ?? {});
    Reading.http = { inputs: { cookies: ['theme', 'toString'], ip: true } };
    const get = await serve(Cookies === undefined ? Products : Baskets);
    const sent: [string, unknown][] = [
      ['theme=dark', 'dark'],
      ['theme="a b"; theme=c', 'a b'],
      ['theme=a%20b', 'a b'],
      ['theme=a=b', 'a=b'],
      ['theme', '(undefined)'],
      ['a=1', '(undefined)'],
    ];
    for (const [cookie, expected] of sent) {
      const { parts, args, handler } = await get('/', { cookie });
      expect(args).toEqual(handler);
      expect([parts[1], parts[3]]).toEqual([expected, '(undefined)']);
      expect(handler[0]).toBe(Cookies === undefined ? parts[5] : expected);
    }
  });

  it('cover the credentials that a custom decorator reads on the real request', async () => {
    @Controller()
    class Products {
      @Get('token')
      find(@Token() token: unknown) {
        return [token];
      }
    }
    const get = await serve(Products);
    const headers = { authorization: 'Bearer a' };
    expect(await get('/token', headers)).toMatchObject({ isCovered: true, handler: ['Bearer a'] });
    expect(await get('/token', { ...headers, cookie: 'a=1' })).toMatchObject({ isCovered: false });
    expect(await get('/token', { cookie: 'a=1' })).toMatchObject({ isCovered: false });
    expect(await get('/token')).toMatchObject({ isCovered: true });
  });

  it('cover everything by the user, and nothing by what the platform reads for itself', async () => {
    @Controller()
    class Products {
      @Get('user')
      find(@RawUser() user: unknown) {
        return [user];
      }
    }
    @Controller()
    class Hosts {
      @Get('host')
      find(@Host() host: unknown) {
        return [host];
      }
    }
    const login = (app: INestApplication) =>
      app.use((request: { user?: unknown }, _: unknown, next: () => void) => {
        request.user = { id: 7 };
        next();
      });
    const sent = { authorization: 'Bearer a', cookie: 'sid=1' };
    const users = await serve(Products, login);
    expect(await users('/user', sent)).toMatchObject({
      isCovered: true,
      handler: [{ id: 7 }],
      args: [{ id: 7 }],
    });
    const hosts = await serve(Hosts, login);
    expect(await hosts('/host', sent)).toMatchObject({ isCovered: false });
  });
});
