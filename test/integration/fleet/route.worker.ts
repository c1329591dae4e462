/** One process of a site: a Nest application that listens, with routes that are cached. */
import 'reflect-metadata';
import type { Server } from 'node:http';
import {
  type CanActivate,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  type INestApplication,
  Module,
  Param,
  Req,
  Res,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { CachedRoute, NoCache, StampedeCacheInterceptor, StampedeCacheModule } from '../../../lib/index.js';
import { DataSource } from './data-source.js';

const LOAD_MS = 300;
const index = Number(process.env['WORKER_INDEX']);

interface Incoming {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: { readonly id: string };
}
interface Reply {
  status(code: number): Reply;
  header(name: string, value: string): Reply;
}

const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<Incoming>();
/** Who sent this: by token or session, or nobody. */
const senderOf = ({ headers }: Incoming) => {
  return headers['authorization']?.replace('Bearer ', '') ?? /sid=(\w+)/.exec(headers['cookie'] ?? '')?.[1];
};

@Injectable()
class AuthGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const id = senderOf(request);
    if (id !== undefined) request.user = { id };
    return true;
  }
}

const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext) => requestOf(context).user);

@Controller()
@CachedRoute({ ttl: '1m' })
class Pages {
  constructor(@Inject(DataSource) private readonly source: DataSource) {}

  @Get('cold/:id')
  async cold(@Param('id') id: string, @Res({ passthrough: true }) response: Reply) {
    const row = await this.source.load(`cold:${id}`, { ms: LOAD_MS });
    response.status(203).header('x-serial', String(row.serial));
    return row;
  }

  /** The same without the cache. */
  @Get('bare/:id')
  @NoCache()
  bare(@Param('id') id: string) {
    return this.source.load(`bare:${id}`, { ms: LOAD_MS });
  }

  /** Whose page it is, is declared. */
  @Get('declared/:page')
  declared(@Param('page') page: string, @CurrentUser() user?: { id: string }) {
    return { page, of: user?.id ?? 'nobody' };
  }

  /** The page of whoever the token is of; a session is not declared. */
  @Get('header/:page')
  @CachedRoute({ ttl: '1m', http: { inputs: { headers: ['authorization'] } } })
  header(@Param('page') page: string, @Req() request: Incoming) {
    return { page, of: senderOf(request) ?? 'nobody' };
  }

  /** The page of whoever the session is of; a token is not declared. */
  @Get('cookie/:page')
  @CachedRoute({ ttl: '1m', http: { inputs: { cookies: ['sid'] } } })
  cookie(@Param('page') page: string, @Req() request: Incoming) {
    return { page, of: senderOf(request) ?? 'nobody' };
  }

  /** Whose page it is, is read behind the cache's back. */
  @Get('hidden/:page')
  @CachedRoute({ ttl: '1m', http: { inputs: { params: ['page'] } } })
  hidden(@Param('page') page: string, @Req() request: Incoming) {
    return { page, of: senderOf(request) ?? 'nobody' };
  }
}

let state: { app?: INestApplication; readonly source: DataSource } | undefined;

/** Listens, and returns where. */
export async function open(
  platform: 'express' | 'fastify',
  redis: string,
  sourcePort: number,
): Promise<string> {
  const source = new DataSource(sourcePort, index);
  const opened: typeof state = (state = { source });
  @Module({
    // Patient: noise of a busy machine must not count as "Redis is down".
    imports: [
      StampedeCacheModule.forRoot({
        redis,
        namespace: platform,
        redisTimeout: '2s',
        redisWriteTimeout: '5s',
        policy: { waitTimeout: '20s', earlyRefresh: 0 },
      }),
    ],
    controllers: [Pages],
    providers: [
      { provide: DataSource, useValue: source },
      { provide: APP_GUARD, useClass: AuthGuard },
      { provide: APP_INTERCEPTOR, useClass: StampedeCacheInterceptor },
    ],
  })
  class Site {}
  const logger = ['error', 'warn'] as const;
  const app: INestApplication =
    platform === 'fastify'
      ? await NestFactory.create(Site, new FastifyAdapter() as never, { logger: [...logger] })
      : await NestFactory.create(Site, { logger: [...logger] });
  opened.app = app;
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

/** A process serves both platforms in turn. */
export async function shut(): Promise<void> {
  const { app, source } = state ?? {};
  state = undefined;
  await source?.settled();
  source?.close();
  // Idle connections of the test's client would delay the end by seconds.
  (app?.getHttpServer() as Server | undefined)?.closeAllConnections();
  await app?.close();
}

export const shutdown = shut;
