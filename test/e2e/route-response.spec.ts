import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  type INestApplication,
  Injectable,
  type NestInterceptor,
  Param,
  Res,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { CookieOptions, NextFunction, Request, Response } from 'express';
import { from, lastValueFrom, map, type Observable, of } from 'rxjs';
import {
  addCookies,
  applyHead,
  type RecordedResponse,
  type Reply,
  replyOf,
  shadowOf,
  type ShadowResponse,
  varyWith,
} from '../../lib/nest/route/response/index.js';
import { deferred, type Deferred } from '../support/deferred.js';

interface Scope {
  readonly shadow?: ShadowResponse;
}

interface Run extends RecordedResponse {
  readonly value: unknown;
  readonly sentByHand: boolean;
}

const scope = new AsyncLocalStorage<Scope>();
let runs: Deferred<Run>[] = [];
let gates = new Map<string, Deferred<void>>();
let arrived: Deferred<void>[] = [];
let seen: Record<string, unknown> = {};
let replies = new Map<string, Reply>();

/** What the handler of the request finds in `x-mode`: nothing, without us; `shadow`; `background`, after the answer; `nested`, twice. */
@Injectable()
class InShadow implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { headers, url } = http.getRequest<{ headers: Record<string, string | undefined>; url: string }>();
    const reply = replyOf(http.getResponse<object>());
    const mode = headers['x-mode'];
    if (mode === undefined) return next.handle();
    const run = deferred<Run>();
    runs.push(run);
    const handle = async () => {
      const shadow = shadowOf(reply, scope);
      const value: unknown = await scope.run({ shadow }, () =>
        lastValueFrom(next.handle() as Observable<unknown>, { defaultValue: undefined }),
      );
      run.resolve({ ...shadow.head(), value, sentByHand: shadow.sentByHand });
      return { shadow, value };
    };
    if (mode === 'background') {
      if (url.endsWith('answered')) {
        const send = async () => {
          await handle();
          http.getResponse<Pick<Response, 'send'>>().send({ old: true });
        };
        applyHead(reply, { status: 203, headers: [['x-own', 'old']] });
        return from(send());
      }
      reply.raw.once('finish', () => void handle().catch((error: unknown) => run.reject(error)));
      const old: [string, string[] | string][] = [
        ['link', ['</old>; rel="old"']],
        ['x-own', 'old'],
        ['etag', 'W/"old"'],
      ];
      applyHead(reply, { status: 203, headers: old });
      // Without `passthrough`, it is up to whoever has the response.
      if (url.includes('/by-hand/')) http.getResponse<Pick<Response, 'send'>>().send({ old: true });
      return of({ old: true });
    }
    if (mode === 'nested') return from(runNested(reply, next, run));
    return from(handle()).pipe(
      map(({ shadow, value }) => {
        if (shadow.sentByHand) return value;
        const { head, cookies } = shadow.head();
        applyHead(reply, head);
        addCookies(reply, cookies);
        return value;
      }),
    );
  }
}

/** What a load of another route does that calls this one with its own response. */
async function runNested(reply: Reply, next: CallHandler, inner: Deferred<Run>): Promise<unknown> {
  const outer = deferred<Run>();
  runs.push(outer);
  const around = shadowOf(reply, scope);
  const method = () => Reflect.get(reply.raw, 'setHeader') as unknown;
  const methods = new Set([method()]);
  const value: unknown = await scope.run({ shadow: around }, async () => {
    const shadow = shadowOf(reply, scope);
    methods.add(method());
    const own: unknown = await scope.run({ shadow }, () =>
      lastValueFrom(next.handle() as Observable<unknown>),
    );
    inner.resolve({ ...shadow.head(), value: own, sentByHand: shadow.sentByHand });
    reply.write('x-between', 'yes');
    return own;
  });
  seen['replaced'] = methods.size;
  outer.resolve({ ...around.head(), value, sentByHand: around.sentByHand });
  applyHead(reply, around.head().head);
  return value;
}

/** Writes inside of the shadow, like the handler. */
@Injectable()
class Inner implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const reply = replyOf(context.switchToHttp().getResponse<object>());
    return next.handle().pipe(
      map((value: unknown) => {
        if (reply.isOver) return value;
        reply.set('x-inner', 'yes');
        reply.set('vary', varyWith(reply.get('vary'), ['X-Inner']));
        return value;
      }),
    );
  }
}

/** Writes outside of it. */
@Injectable()
class Outer implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const reply = replyOf(context.switchToHttp().getResponse<object>());
    reply.set('x-outer', 'before');
    return next.handle().pipe(
      map((value: unknown) => {
        seen['outside'] = { status: reply.status, own: reply.get('x-own'), sent: reply.raw.headersSent };
        if (!reply.isOver) reply.set('x-outer', 'after');
        return value;
      }),
    );
  }
}

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'response-'));
  file = join(folder, 'note.txt');
  writeFileSync(file, 'a note');
});
afterAll(() => rmSync(folder, { recursive: true }));

beforeEach(() => {
  runs = [];
  gates = new Map();
  arrived = [];
  seen = {};
  replies = new Map();
});

/** What both frameworks' handlers do alike, on Node's own response. */
function look(raw: ServerResponse): Record<string, unknown> {
  return {
    status: raw.statusCode,
    headersSent: raw.headersSent,
    writableEnded: raw.writableEnded,
    destroyed: raw.destroyed,
    route: raw.getHeader('x-route'),
  };
}

async function meet(name: string, response: object): Promise<void> {
  replies.set(name, replyOf(response));
  arrived.shift()?.resolve();
  await gates.get(name)?.promise;
  const other = replies.get(name === 'a' ? 'b' : 'a');
  if (other && !other.isOver) other.write('x-visit', name);
}

@UseInterceptors(Outer, InShadow, Inner)
@Controller()
class OnExpress {
  @Get('object')
  @Header('X-Route', 'route')
  @HttpCode(202)
  object(@Res({ passthrough: true }) response: Response) {
    seen['inside'] = { ...look(response), had: response.get('X-Own'), link: response.get('Link') };
    response.set('X-Own', 'own').append('Link', '</a>; rel="a"').links({ next: '/b' });
    response.append('X-Many', 'one').append('X-Many', ['two', 'three']);
    response.vary('Accept').vary('accept').location('/ä');
    response.set({ 'X-Gone': '1', 'X-Number': 5 }).removeHeader('X-Gone');
    response.removeHeader('X-Powered-By');
    response.setHeaders(new Map([['X-Map', 'map']]));
    response.appendHeader('X-App', 'a').appendHeader('X-App', 'b');
    seen['names'] = response.getHeaderNames();
    seen['headers'] = { ...response.getHeaders() };
    seen['has'] = [response.hasHeader('X-OWN'), response.hasHeader('X-Gone'), response.get('x-many')];
    return { a: 'ä' };
  }

  @Get('cookies')
  cookies(@Res({ passthrough: true }) response: Response) {
    const options: CookieOptions = { httpOnly: true, path: '/x' };
    response.cookie('a', '1', options).cookie('b', { c: 1 }).clearCookie('d').status(201).type('xml');
    return '<a/>';
  }

  @Get('attachment')
  attachment(@Res({ passthrough: true }) response: Response) {
    response.attachment('ä.json');
    response.statusCode = 203;
    response.statusMessage = 'Fine';
    return [1];
  }

  @Get('connection')
  connection(@Res({ passthrough: true }) response: Response) {
    response.set({ Connection: 'close, X-Hop', 'X-Hop': '1', 'Proxy-Authenticate': 'x', Age: '5' });
    response.set({ 'Cache-Status': 'up; hit', 'Content-Length': '2', 'X-End': '1' });
    return 'ok';
  }

  @Get('invalid')
  invalid(@Res({ passthrough: true }) response: Response) {
    response.setHeader('X-Bad', 'a\r\nb');
    return 'never';
  }

  @Get('meet/:name')
  async meet(@Param('name') name: string, @Res({ passthrough: true }) response: Response) {
    response.set(`X-${name}`, name).status(name === 'a' ? 201 : 203);
    await meet(name, response);
    return { name, names: response.getHeaderNames().filter((header) => /^x-[ab]$/.test(header)) };
  }

  @Get('by-hand/:how')
  async byHand(@Param('how') how: string, @Res() response: Response) {
    await Promise.resolve();
    response.set('X-Own', 'own').status(201);
    if (how === 'end') response.end('text');
    if (how === 'write') {
      response.write('te');
      response.end('xt');
    }
    if (how === 'head') response.writeHead(203, 'Fine', { 'X-Head': '1' }).end('text');
    if (how === 'flush') {
      response.flushHeaders();
      response.end();
    }
    if (how === 'send') response.send('text');
    if (how === 'json') response.json({ a: 1 });
    if (how === 'redirect') response.redirect(303, '/there');
    if (how === 'cookie') response.cookie('a', '1').sendStatus(200);
    if (how === 'file') {
      await new Promise<void>((resolve) => response.status(200).sendFile(file, () => resolve()));
    }
    if (how === 'trailers') {
      response.setHeader('Transfer-Encoding', 'chunked').setHeader('Trailer', 'X-T');
      response.addTrailers({ 'X-T': '1' });
      response.end('text');
    }
    seen['after'] = [response.headersSent, response.writableEnded];
  }
}

/** What is used of Fastify's reply; `fastify` itself is no dependency. */
interface FastifyReply {
  readonly raw: ServerResponse;
  readonly sent: boolean;
  statusCode: number;
  header(name: string, value?: unknown): FastifyReply;
  headers(headers: object): FastifyReply;
  getHeader(name: string): unknown;
  getHeaders(): Record<string, unknown>;
  hasHeader(name: string): boolean;
  removeHeader(name: string): FastifyReply;
  code(code: number): FastifyReply;
  status(code: number): FastifyReply;
  type(type: string): FastifyReply;
  send(body?: unknown): FastifyReply;
  redirect(url: string, code?: number): FastifyReply;
  hijack(): FastifyReply;
  serializer(serialize: (body: unknown) => string): FastifyReply;
  setCookie?(name: string, value: string): FastifyReply;
}

@UseInterceptors(Outer, InShadow, Inner)
@Controller()
class OnFastify {
  @Get('object')
  @Header('X-Route', 'route')
  @HttpCode(202)
  object(@Res({ passthrough: true }) reply: FastifyReply) {
    const link = reply.getHeader('Link');
    seen['inside'] = {
      ...look(reply.raw),
      route: reply.getHeader('X-Route'),
      had: reply.getHeader('X-Own'),
      link,
    };
    seen['sent'] = reply.sent;
    reply.header('X-Own', 'own').headers({ 'X-A': 'a', 'X-Many': ['one', 'two'], 'X-Number': 5 });
    reply.header('X-Gone', '1').removeHeader('x-gone').header('X-Empty');
    reply.raw.setHeader('X-Raw', 'raw');
    reply.raw.appendHeader('X-Raw', 'again');
    seen['names'] = reply.raw.getHeaderNames();
    seen['headers'] = reply.getHeaders();
    seen['has'] = [reply.hasHeader('X-OWN'), reply.hasHeader('X-Gone'), reply.getHeader('x-many')];
    return { a: 'ä' };
  }

  @Get('cookies')
  cookies(@Res({ passthrough: true }) reply: FastifyReply) {
    reply.header('Set-Cookie', 'a=1').header('set-cookie', ['b=2', 'c=3']).code(201).type('application/xml');
    return '<a/>';
  }

  @Get('plugin-cookie')
  pluginCookie(@Res({ passthrough: true }) reply: FastifyReply) {
    reply.setCookie?.('a', '1');
    return 'ok';
  }

  @Get('attachment')
  attachment(@Res({ passthrough: true }) reply: FastifyReply) {
    reply.raw.statusCode = 204;
    reply.statusCode = 203;
    reply.raw.statusMessage = 'Fine';
    return [1];
  }

  @Get('connection')
  connection(@Res({ passthrough: true }) reply: FastifyReply) {
    reply.headers({ Connection: 'close, X-Hop', 'X-Hop': '1', 'Proxy-Authenticate': 'x', Age: '5' });
    reply.headers({ 'Cache-Status': 'up; hit', 'Content-Length': '2', 'X-End': '1' });
    return 'ok';
  }

  @Get('invalid')
  invalid(@Res({ passthrough: true }) reply: FastifyReply) {
    reply.header('X-Bad', 'a\r\nb');
    return 'never';
  }

  @Get('meet/:name')
  async meet(@Param('name') name: string, @Res({ passthrough: true }) reply: FastifyReply) {
    reply.header(`X-${name}`, name).status(name === 'a' ? 201 : 203);
    await meet(name, reply);
    return { name, names: Object.keys(reply.getHeaders()).filter((header) => /^x-[ab]$/.test(header)) };
  }

  @Get('by-hand/:how')
  async byHand(@Param('how') how: string, @Res() reply: FastifyReply) {
    await Promise.resolve();
    reply.header('X-Own', 'own').status(201);
    if (how === 'send') reply.send('text');
    if (how === 'json') reply.send({ a: 1 });
    if (how === 'serializer') reply.serializer(() => 'mine').send({ a: 1 });
    if (how === 'redirect') reply.redirect('/there', 303);
    if (how === 'redirect-plain') reply.redirect('/there');
    if (how === 'cookie') reply.header('set-cookie', 'a=1').header('set-cookie', 'b=1').send();
    if (how === 'raw') reply.raw.writeHead(203, { 'X-Head': '1' }).end('text');
    if (how === 'hijack') {
      reply.hijack();
      reply.raw.setHeader('X-Late', '1');
      reply.raw.write('te');
      reply.raw.end('xt');
    }
    seen['after'] = [reply.raw.headersSent, reply.raw.writableEnded];
  }
}

interface Answer {
  readonly status: number;
  readonly message: string;
  readonly headers: readonly string[];
  readonly body: string;
}

function ask(port: number, path: string, mode?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'close', ...(mode === undefined ? {} : { 'x-mode': mode }) };
    httpRequest({ host: '127.0.0.1', port, path, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.once('error', reject).once('end', () => {
        const { rawHeaders } = response;
        const lines = rawHeaders.flatMap((name, at) =>
          at % 2 ? [] : [`${name.toLowerCase()}: ${rawHeaders[at + 1]}`],
        );
        resolve({
          status: response.statusCode ?? 0,
          message: response.statusMessage ?? '',
          headers: lines.filter((line) => !line.startsWith('date:')).sort(),
          body,
        });
      });
    })
      .once('error', reject)
      .end();
  });
}

type Kind = 'Express' | 'Fastify';

async function start(kind: Kind, controllers: Type[], prepare?: (app: INestApplication) => void) {
  const module = await Test.createTestingModule({ controllers }).compile();
  const app =
    kind === 'Express'
      ? module.createNestApplication({ logger: false })
      : module.createNestApplication(new FastifyAdapter(), { logger: false });
  prepare?.(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo; // it listens on a port
  return { app, port };
}

const BY_HAND: Readonly<Record<Kind, readonly string[]>> = {
  Express: ['end', 'write', 'head', 'flush', 'send', 'json', 'redirect', 'cookie', 'file', 'trailers'],
  Fastify: ['send', 'json', 'serializer', 'redirect', 'redirect-plain', 'cookie', 'raw', 'hijack'],
};

describe.each([
  ['Express', OnExpress],
  ['Fastify', OnFastify],
] as const)('the response of a handler that runs in a shadow, on %s', (kind, controller) => {
  let app: INestApplication;
  let port: number;

  beforeAll(async () => {
    ({ app, port } = await start(kind, [controller], (before) => {
      before.use((_request: Request, response: ServerResponse, next: NextFunction) => {
        response.setHeader('Link', '</middleware>; rel="m"');
        next();
      });
      if (kind === 'Fastify') decorateLikeACookiePlugin(before);
    }));
  });
  afterAll(() => app.close());

  it.each(['object', 'cookies', 'attachment', 'meet/a'])('is sent as without us: %s', async (path) => {
    const plain = await ask(port, `/${path}`);
    const ours = await ask(port, `/${path}`, 'shadow');
    const message = path === 'attachment' ? 'Non-Authoritative Information' : plain.message;
    expect(ours).toEqual({ ...plain, message });
  });

  it.each(BY_HAND[kind])('is sent by hand as without us: %s', async (how) => {
    const plain = await ask(port, `/by-hand/${how}`);
    const { after } = seen;
    const ours = await ask(port, `/by-hand/${how}`, 'shadow');
    expect(ours).toEqual(plain);
    const run = await runs[0]?.promise;
    expect(run?.sentByHand).toBe(true);
    expect(seen['after']).toEqual(after);
  });

  it('shows the handler what middleware and @Header set, and what it set itself', async () => {
    await ask(port, '/object');
    const plain = seen;
    seen = {};
    await ask(port, '/object', 'shadow');
    const { names, outside, ...rest } = seen;
    const { names: plainNames, outside: _there, headers, ...others } = plain;
    expect(rest).toMatchObject(others);
    // Numbers are text to everybody.
    expect(rest['headers']).toEqual(
      Object.fromEntries(
        Object.entries(headers as object).map(([name, value]) => [
          name,
          typeof value === 'number' ? String(value) : value,
        ]),
      ),
    );
    // Fastify's own headers are no business of Node's response until they are sent.
    expect(names).toEqual(expect.arrayContaining(plainNames as string[]));
    // The head is applied by then, but nothing is sent.
    expect(outside).toEqual({ status: 202, own: 'own', sent: false });
  });

  it('is recorded without what is for one connection, one message or one caller', async () => {
    await ask(port, '/connection', 'shadow');
    const run = await runs[0]?.promise;
    expect(run?.head).toEqual({
      status: 200,
      headers: [
        ['x-end', '1'],
        ['x-inner', 'yes'],
        ['vary', 'X-Inner'],
      ],
    });
    expect(run).toMatchObject({ cookies: [], setsCookies: false, sentByHand: false });
    await ask(port, '/cookies', 'shadow');
    const cookies = await runs[1]?.promise;
    expect(cookies?.head.status).toBe(201);
    expect(cookies?.head.headers.map(([name]) => name)).not.toContain('set-cookie');
    expect(cookies?.cookies.map((cookie) => cookie.split(';')[0])).toEqual(
      kind === 'Express' ? ['a=1', 'b=j%3A%7B%22c%22%3A1%7D', 'd='] : ['a=1', 'b=2', 'c=3'],
    );
    expect(cookies?.setsCookies).toBe(true);
  });

  it('is recorded with several values, without what was removed again', async () => {
    await ask(port, '/object', 'shadow');
    const run = await runs[0]?.promise;
    const headers = new Map(run?.head.headers.map(([name, value]) => [name, value]));
    expect(headers.get('x-many')).toEqual(kind === 'Express' ? ['one', 'two', 'three'] : ['one', 'two']);
    expect(headers.has('x-gone')).toBe(false);
    expect(headers.has('x-route')).toBe(false);
    expect(headers.get('x-powered-by')).toEqual(kind === 'Express' ? [] : undefined);
    expect(run?.head.status).toBe(202);
  });

  it('looks unsent and as before its answer to a run in the background, which changes nothing of it', async () => {
    const answer = await ask(port, '/object', 'background');
    expect(answer).toMatchObject({ status: 203, body: '{"old":true}' });
    expect(answer.headers).toEqual(
      expect.arrayContaining(['link: </old>; rel="old"', 'x-own: old', 'etag: W/"old"', 'x-outer: after']),
    );
    const run = await runs[0]?.promise;
    expect(seen['inside']).toEqual({
      status: 202,
      headersSent: false,
      writableEnded: false,
      destroyed: false,
      route: 'route',
      had: undefined,
      link: '</middleware>; rel="m"',
    });
    expect(seen['headers']).not.toHaveProperty('etag');
    expect(seen['headers']).not.toHaveProperty('content-length');
    expect(seen['headers']).not.toHaveProperty('content-type');
    expect(run?.value).toEqual({ a: 'ä' });
    await ask(port, '/object', 'shadow');
    expect((await runs[1]?.promise)?.head).toEqual(run?.head);
  });

  it.each(BY_HAND[kind])('swallows what is sent by hand in the background: %s', async (how) => {
    const answer = await ask(port, `/by-hand/${how}`, 'background');
    expect(answer).toMatchObject({ status: 203, body: '{"old":true}' });
    expect(answer.headers).toContain('x-own: old');
    const run = await runs[0]?.promise;
    expect(run?.sentByHand).toBe(true);
    expect(seen['after']).toEqual([true, true]);
  });

  it('swallows it also where the answer is known, but not yet sent', async () => {
    const answer = await ask(port, '/by-hand/send?answered', 'background');
    expect(answer).toMatchObject({ status: 203, body: '{"old":true}' });
    expect(answer.headers).toContain('x-own: old');
  });

  it('refuses an invalid header where it is set, so that no entry has one', async () => {
    const answer = await ask(port, '/invalid', 'shadow');
    expect(answer.status).toBe(500);
    expect(answer.body).toBe('{"statusCode":500,"message":"Internal server error"}');
    expect(runs[0]?.settled).toBe(false);
  });

  it('belongs to the innermost of two runs for one response, whose methods are replaced once', async () => {
    const answer = await ask(port, '/object', 'nested');
    const [inner, outer] = [await runs[0]?.promise, await runs[1]?.promise];
    expect(inner?.head.headers).toContainEqual(['x-own', 'own']);
    expect(outer?.head.headers).toEqual([['x-between', 'yes']]);
    expect(answer.headers).toContain('x-between: yes');
    expect(answer.headers).not.toContain('x-own: own');
    expect(seen['replaced']).toBe(1);
  });

  it('keeps two requests apart', async () => {
    gates.set('a', deferred<void>());
    gates.set('b', deferred<void>());
    const both = (arrived = [deferred<void>(), deferred<void>()]).map(({ promise }) => promise);
    const a = ask(port, '/meet/a', 'shadow');
    const b = ask(port, '/meet/b', 'shadow');
    await Promise.all(both);
    gates.get('b')?.resolve();
    const second = await b;
    gates.get('a')?.resolve();
    const first = await a;
    expect(first).toMatchObject({ status: 201, body: '{"name":"a","names":["x-a"]}' });
    expect(second).toMatchObject({ status: 203, body: '{"name":"b","names":["x-b"]}' });
    expect(first.headers).toContain('x-a: a');
    expect(first.headers).not.toContain('x-b: b');
    expect(second.headers).not.toContain('x-a: a');
    // What b wrote to a's response, out of b's own run.
    expect(first.headers).toContain('x-visit: b');
    const recorded = await Promise.all(runs.map(({ promise }) => promise));
    expect(recorded.flatMap(({ head }) => head.headers.map(([name]) => name))).not.toContain('x-visit');
  });

  if (kind === 'Fastify') {
    it('knows of cookies that a plugin keeps until the reply is sent', async () => {
      const answer = await ask(port, '/plugin-cookie', 'shadow');
      expect(answer.headers).toContain('set-cookie: a=1');
      expect(await runs[0]?.promise).toMatchObject({ cookies: [], setsCookies: true });
      const later = await ask(port, '/plugin-cookie', 'background');
      expect(later.headers).not.toContain('set-cookie: a=1');
      expect(await runs[1]?.promise).toMatchObject({ cookies: [], setsCookies: true });
    });
  }
});

/** As @fastify/cookie does: cookies wait in the reply, a hook writes them. */
function decorateLikeACookiePlugin(app: INestApplication): void {
  interface Instance {
    decorateReply(name: string, method: unknown): void;
    addHook(
      name: string,
      hook: (request: unknown, reply: FastifyReply & { jar?: string[] }) => Promise<void>,
    ): void;
  }
  const instance = app.getHttpAdapter().getInstance() as Instance; // Fastify's
  instance.decorateReply('setCookie', function (this: { jar?: string[] }, name: string, value: string) {
    (this.jar ??= []).push(`${name}=${value}`);
    return this;
  });
  instance.addHook('onSend', async (_request, reply) => {
    for (const cookie of reply.jar ?? []) reply.header('set-cookie', cookie);
  });
}
