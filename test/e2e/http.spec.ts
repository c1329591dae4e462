import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  type INestApplication,
  Injectable,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Body,
  Query,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { Cached, notFound, StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { deferred } from '../support/deferred.js';
import { until } from '../support/until.js';

const platforms = { express: undefined, fastify: () => new FastifyAdapter() };

describe.each(['express', 'fastify'] as const)('Controllers on %s', (platform) => {
  const open: INestApplication[] = [];
  afterEach(async () => {
    for (const app of open.splice(0)) await app.close();
  });

  async function serve(
    controller: Type,
    providers: Parameters<typeof Test.createTestingModule>[0]['providers'] = [],
  ) {
    const module = await Test.createTestingModule({
      imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' } })],
      controllers: [controller],
      providers,
    }).compile();
    const adapter = platforms[platform]?.();
    const app: INestApplication = adapter
      ? module.createNestApplication(adapter as never, { logger: false })
      : module.createNestApplication({ logger: false });
    open.push(app);
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${url}${path}`, { headers });
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
    };
    return { app, get, url };
  }

  it('keep their routes and pipes, with @Cached above and below (FC-050)', async () => {
    const runs: unknown[] = [];
    @Controller('reports')
    class Reports {
      @Cached()
      @Get('above/:id')
      async above(@Param('id', ParseIntPipe) id: number, @Query('page') page?: string) {
        runs.push(id);
        return { id, page };
      }
      @Get('below/:id')
      @Cached()
      async below(@Param('id', ParseIntPipe) id: number) {
        runs.push(id);
        return { id };
      }
      @Get('all')
      @Cached()
      async all() {
        runs.push('all');
        return [];
      }
      @Post('search')
      @Cached()
      async search(@Body() body: { text: string }) {
        runs.push(body.text);
        return [body.text];
      }
    }
    const { get, url } = await serve(Reports);
    for (let i = 0; i < 2; i++) {
      expect(await get('/reports/above/1?page=2')).toEqual({ status: 200, body: { id: 1, page: '2' } });
      expect(await get('/reports/below/1')).toEqual({ status: 200, body: { id: 1 } });
      expect(await get('/reports/all')).toEqual({ status: 200, body: [] });
      expect((await get('/reports/above/x')).status).toBe(400);
      expect((await get('/reports/below/x')).status).toBe(400);
      const body = JSON.stringify({ text: 'a' });
      const posted = await fetch(`${url}/reports/search`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      });
      expect([posted.status, await posted.json()]).toEqual([201, ['a']]);
    }
    expect(runs).toEqual([1, 1, 'all', 'a']);
  });

  it('run their guards before the cache, in all orders, cold and warm (FC-005)', async () => {
    const Roles = SetMetadata('roles', ['admin']);
    @Injectable()
    class RolesGuard implements CanActivate {
      constructor(private readonly reflector: Reflector) {}
      canActivate(context: ExecutionContext) {
        const roles = this.reflector.get<string[] | undefined>('roles', context.getHandler());
        const request = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
        return roles === undefined || roles.includes(request.headers['x-role'] ?? '');
      }
    }
    let runs = 0;
    @Controller()
    class Admin {
      @Cached()
      @Get('first')
      @Roles
      async first() {
        return (runs += 1);
      }
      @Get('middle')
      @Cached()
      @Roles
      async middle() {
        return (runs += 1);
      }
      @Get('last')
      @Roles
      @Cached()
      async last() {
        return (runs += 1);
      }
    }
    const { get } = await serve(Admin, [{ provide: APP_GUARD, useClass: RolesGuard }]);
    for (const path of ['/first', '/middle', '/last']) {
      expect((await get(path)).status).toBe(403);
      const warm = await get(path, { 'x-role': 'admin' });
      expect(warm.status).toBe(200);
      expect((await get(path)).status).toBe(403);
      expect(await get(path, { 'x-role': 'admin' })).toEqual(warm);
    }
    expect(runs).toBe(3);
  });

  it('run once for many requests, and answer all with the exception of the load', async () => {
    const gate = deferred();
    let runs = 0;
    @Controller()
    class Products {
      @Get(':id')
      @Cached({ negativeErrors: notFound })
      async find(@Param('id') id: string): Promise<string> {
        runs += 1;
        await gate.promise;
        throw new NotFoundException(`no product ${id}`);
      }
    }
    const { app, get } = await serve(Products);
    const cache = app.get(StampedeCacheService);
    const all = Array.from({ length: 20 }, () => get('/5'));
    await until(() => cache.stats().active.callers === 20, { what: '20 callers' });
    gate.resolve();
    const answer = { status: 404, body: { statusCode: 404, message: 'no product 5', error: 'Not Found' } };
    expect(await Promise.all(all)).toEqual(Array.from({ length: 20 }, () => answer));
    expect(await get('/5')).toEqual(answer);
    expect(runs).toBe(1);
  });

  it('answer 503 when a load takes too long', async () => {
    @Controller()
    class Products {
      @Get()
      @Cached({ loadTimeout: 1 })
      async list(): Promise<void> {
        await new Promise(() => undefined);
      }
    }
    const { get } = await serve(Products);
    expect(await get('/')).toMatchObject({ status: 503, body: { statusCode: 503 } });
  });
});
