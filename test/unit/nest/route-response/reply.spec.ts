import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  type INestApplication,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { Express } from 'express';
import { map, type Observable } from 'rxjs';
import {
  addCacheStatus,
  addCookies,
  applyHead,
  etagOf,
  isJsonPlain,
  isNotModified,
  jsonContentType,
  replyOf,
  toJsonText,
  toNotModified,
} from '../../../../lib/nest/route/response/index.js';

type Kind = 'Express' | 'Fastify';

let plain: boolean | undefined;

/** `x-text`: sends ready text where that is plain. */
@Injectable()
class AsText implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const response = http.getResponse<object>();
    const { headers } = http.getRequest<{ headers: Record<string, string | undefined> }>();
    const reply = replyOf(response);
    return next.handle().pipe(
      map((body: unknown) => {
        plain = isJsonPlain(response);
        if (headers['x-text'] === undefined || !plain) return body;
        const text = toJsonText(response, body);
        applyHead(reply, { status: 200, headers: [['x-head', ['1', '2']]] });
        if (reply.get('content-type') === undefined)
          reply.set('content-type', jsonContentType(reply.platform));
        reply.set('content-security-policy', "default-src 'self'");
        reply.set('cache-control', 'private, no-cache');
        reply.set('content-encoding', 'identity');
        reply.set('cache-status', 'up; fwd=miss');
        addCacheStatus(reply, { ttlMs: 1_000 });
        addCookies(reply, ['a=1']);
        addCookies(reply, ['b=2', 'c=3']);
        const etag = etagOf(text);
        reply.set('etag', etag);
        if (!isNotModified(headers['if-none-match'], etag)) return text;
        toNotModified(reply);
        return undefined;
      }),
    );
  }
}

@Controller()
@UseInterceptors(AsText)
class Things {
  @Get('things')
  things() {
    return { at: new Date(0), text: 'ä<&>', none: undefined, list: [1, null, { deep: true }] };
  }
}

interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: string;
}

function ask(port: number, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', port, path: '/things', headers: { ...headers, connection: 'close' } })
      .once('error', reject)
      .once('response', (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
        response.once('end', () => {
          const lines = new Map<string, string[]>();
          response.rawHeaders.forEach((text, at, all) => {
            if (at % 2 === 0) return;
            const name = (all[at - 1] ?? '').toLowerCase();
            lines.set(name, [...(lines.get(name) ?? []), text]);
          });
          resolve({ status: response.statusCode ?? 0, headers: lines, body });
        });
      })
      .end();
  });
}

const started: INestApplication[] = [];
afterEach(async () => {
  for (const app of started.splice(0)) await app.close();
});

async function start(kind: Kind, prepare?: (instance: unknown) => void): Promise<number> {
  const module = await Test.createTestingModule({ controllers: [Things] }).compile();
  const app =
    kind === 'Express'
      ? module.createNestApplication({ logger: false })
      : module.createNestApplication(new FastifyAdapter(), { logger: false });
  started.push(app);
  prepare?.(app.getHttpAdapter().getInstance());
  await app.listen(0, '127.0.0.1');
  return (app.getHttpServer().address() as AddressInfo).port; // it listens on a port
}

describe.each<Kind>(['Express', 'Fastify'])('a reply of %s', (kind) => {
  it('sends ready JSON text as the framework sends the object', async () => {
    const port = await start(kind);
    const [object, text] = [await ask(port), await ask(port, { 'x-text': '1' })];
    expect(plain).toBe(true);
    expect(text.body).toBe(object.body);
    for (const name of ['content-type', 'content-length']) {
      expect(text.headers.get(name)).toEqual(object.headers.get(name));
    }
    expect(text.headers.get('content-type')).toEqual([jsonContentType('express')]);
  });

  it('has the recorded headers, several lines of one as well, and adds to those of others', async () => {
    const { headers } = await ask(await start(kind), { 'x-text': '1' });
    expect(headers.get('x-head')).toEqual(['1', '2']);
    expect(headers.get('set-cookie')).toEqual(['a=1', 'b=2', 'c=3']);
    expect(headers.get('cache-status')).toEqual(['up; fwd=miss, stampede-cache; hit; ttl=1']);
  });

  it('becomes a 304 that keeps what guides a cache and nothing of the body', async () => {
    const port = await start(kind);
    const etag = (await ask(port, { 'x-text': '1' })).headers.get('etag')?.[0] ?? '';
    const { status, headers, body } = await ask(port, { 'x-text': '1', 'if-none-match': `"x", ${etag}` });
    expect([status, body]).toEqual([304, '']);
    expect(headers.get('etag')).toEqual([etag]);
    expect(headers.get('cache-control')).toEqual(['private, no-cache']);
    expect(headers.has('content-security-policy')).toBe(true);
    expect([...headers.keys()].filter((name) => /^(content-[^s]|transfer)/.test(name))).toEqual([]);
  });
});

describe('ready text is not plain', () => {
  interface FastifyInstance {
    addHook(name: string, hook: (...args: readonly unknown[]) => Promise<unknown>): void;
    setReplySerializer(serialize: (body: unknown) => string): void;
  }
  type Prepare = (instance: unknown) => void;
  const express =
    (prepare: (app: Express) => void): Prepare =>
    (instance) =>
      prepare(instance as Express); // Nest's own
  const fastify =
    (prepare: (app: FastifyInstance) => void): Prepare =>
    (instance) =>
      prepare(instance as FastifyInstance); // Nest's own

  it.each<[Kind, string, Prepare]>([
    ['Express', 'json spaces', express((app) => app.set('json spaces', 2))],
    ['Express', 'json escape', express((app) => app.set('json escape', true))],
    ['Express', 'json replacer', express((app) => app.set('json replacer', ['text']))],
    [
      'Express',
      'a json of the application',
      express((app) => {
        app.response.json = function (body: unknown) {
          return this.type('json').send(JSON.stringify({ body }));
        };
      }),
    ],
    [
      'Express',
      'a json of middleware',
      express((app) =>
        app.use((_request, response, next) => {
          response.json = (body: unknown) => response.type('json').send(JSON.stringify({ body }));
          next();
        }),
      ),
    ],
    [
      'Fastify',
      'a preSerialization hook',
      fastify((app) => app.addHook('preSerialization', async (_request, _reply, body) => ({ body }))),
    ],
    ['Fastify', 'a serializer', fastify((app) => app.setReplySerializer(() => '{"own":true}'))],
    [
      'Fastify',
      'a serializer of the reply',
      fastify((app) =>
        app.addHook('onRequest', async (_request, reply) => {
          (reply as { serializer(fn: () => string): void }).serializer(() => '{"own":true}');
        }),
      ),
    ],
    [
      'Fastify',
      'a response schema',
      fastify((app) =>
        app.addHook('onRoute', ((route: { schema?: object }) => {
          route.schema = {
            response: { 200: { type: 'object', properties: { text: { type: 'string' } } } },
          };
          // Only this hook is synchronous.
        }) as unknown as () => Promise<unknown>),
      ),
    ],
  ])('on %s with %s', async (kind, _what, prepare) => {
    const port = await start(kind, prepare);
    const [object, text] = [await ask(port), await ask(port, { 'x-text': '1' })];
    expect(plain).toBe(false);
    expect(text.body).toBe(object.body);
    expect(object.body).not.toBe(JSON.stringify(new Things().things()));
  });

  it('where the framework is unknown', () => {
    expect(isJsonPlain({})).toBe(false);
    expect(isJsonPlain({ raw: {}, header: () => undefined })).toBe(false);
  });
});
