import { createParamDecorator, Headers, Query, Req, type ExecutionContext } from '@nestjs/common';
import express from 'express';
import 'reflect-metadata';
import type { InputReading } from '../../../../lib/nest/route/contracts.js';
import { credentialsOf } from '../../../../lib/nest/route/inputs/index.js';
import { saysWhoAsks } from '../../../../lib/nest/route/inputs/identity.js';
import { contextOf, resolve, type TestRequest } from './kit.js';

const Custom = createParamDecorator((data: (context: ExecutionContext) => unknown, context) => data(context));
/** A request as tests look at it: anything may be asked for. */
type AnyRequest = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any
const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<AnyRequest>();

function taking(...decorators: ParameterDecorator[]) {
  class Products {
    find(): void {}
  }
  decorators.forEach((decorate, index) => decorate(Products.prototype, 'find', index));
  return Products;
}

const asking = (...asks: ((request: AnyRequest) => unknown)[]) =>
  resolve(taking(...asks.map((ask) => Custom((context: ExecutionContext) => ask(requestOf(context))))));

const sent = { authorization: 'Bearer a', cookie: 'sid=1; theme=dark' };
const BOTH = ['authorization', 'cookie'];

/** Which of the two credentials are covered. */
function covered(subject: ReturnType<typeof resolve>, request: () => TestRequest): string[] {
  return BOTH.filter((name) => subject.reading(request(), [name]).isCovered);
}

class Account {
  role = 'guest';
}

function hiding(value: object): object {
  return Object.defineProperty(value, 'id', { value: 7, enumerable: false });
}

describe('credentialsOf', () => {
  it('names what is carried with a value', () => {
    expect(credentialsOf({ headers: { authorization: 'a', cookie: '', 'x-key': 'k' } }, BOTH)).toEqual([
      'authorization',
    ]);
    expect(credentialsOf({ headers: { 'x-key': ['', 'k'] } }, ['x-key'])).toEqual(['x-key']);
  });

  it('is one and the same empty list where nothing is', () => {
    const none = credentialsOf({ headers: {} }, BOTH);
    expect(none).toEqual([]);
    expect(Object.isFrozen(none)).toBe(true);
    expect(credentialsOf({ headers: { cookie: '' } }, BOTH)).toBe(none);
  });
});

describe('A declared input covers', () => {
  const request = () => ({ headers: { ...sent } });

  it('nothing, unless it is the credential', () => {
    expect(covered(resolve(taking(Query('user'), Headers('x-user'))), request)).toEqual([]);
    expect(covered(resolve(taking(Req()), { inputs: {} }), request)).toEqual([]);
  });

  it('the header that it is', () => {
    expect(covered(resolve(taking(Headers('Authorization'))), request)).toEqual(['authorization']);
    expect(covered(resolve(taking(Headers('cookie'))), request)).toEqual(['cookie']);
    const named = resolve(taking(Headers()), { inputs: { headers: ['Authorization', 'Cookie'] } });
    expect(covered(named, request)).toEqual(BOTH);
    expect(named.reading(request(), BOTH).isCovered).toBe(true);
  });

  it('all that was sent only if each is covered', () => {
    const subject = resolve(taking(Headers('Authorization')));
    expect(subject.reading(request(), BOTH).isCovered).toBe(false);
    expect(subject.reading(request(), []).isCovered).toBe(true);
  });

  it('the cookies by one that says who asks, if it was sent', () => {
    const byCookie = (name: string) => resolve(taking(), { inputs: { cookies: [name] } });
    expect(covered(byCookie('sid'), request)).toEqual(['cookie']);
    expect(covered(byCookie('theme'), request)).toEqual([]);
    expect(covered(byCookie('userId'), request)).toEqual([]);
  });
});

describe('Cookies of Nest 12', () => {
  /** Its decorators are not in NestJS 11, but its metadata is plain. */
  function declaring(kind: 14 | 15, name: string | undefined) {
    const Products = taking();
    Reflect.defineMetadata(
      '__routeArguments__',
      { [`${kind}:0`]: { index: 0, data: name } },
      Products,
      'find',
    );
    return Products;
  }
  const request = (more: object = {}) => ({
    headers: { ...sent, cookie: 'sid=s:1.ok; uid=s:2.forged' },
    ...more,
  });
  const unsign = (text: string) => (text.endsWith('.ok') ? text.slice(2, -3) : undefined);
  const findSigner = () => ({ unsign });
  const signed = (name?: string, more = {}) => resolve(declaring(15, name), {}, { findSigner, ...more });

  it('are covered by all of them, unless a parser keeps the signed ones apart', () => {
    const all = resolve(declaring(14, undefined));
    expect(covered(all, request)).toEqual(['cookie']);
    expect(covered(all, () => request({ cookies: {}, signedCookies: {} }))).toEqual(['cookie']);
    expect(covered(all, () => request({ cookies: {}, signedCookies: { sid: '1' } }))).toEqual([]);
    expect(all.reading(request()).parts).toEqual(['cookie:', { sid: 's:1.ok', uid: 's:2.forged' }]);
    expect(all.plan.vary).toEqual(['Cookie']);
  });

  it('are part of the key as they were sent, and verified among the arguments', () => {
    const one = signed('sid').reading(request());
    expect([one.parts, one.args]).toEqual([['signed:sid', 's:1.ok'], ['1']]);
    const forged = signed('uid').reading(request());
    expect([forged.parts, forged.args]).toEqual([['signed:uid', 's:2.forged'], [undefined]]);
    expect(signed().reading(request()).args[0]).toEqual(Object.assign(Object.create(null), { sid: '1' }));
  });

  it('are covered by a signed one that says who asks, if its signature is right', () => {
    expect(covered(signed('sid'), request)).toEqual(['cookie']);
    expect(covered(signed('uid'), request)).toEqual([]);
    expect(covered(signed(), request)).toEqual(['cookie']);
  });

  it('are verified by a parser where the application has no secret', () => {
    const one = (name: string) => signed(name, { findSigner: () => undefined });
    const parsed = () => request({ signedCookies: { sid: '1', uid: false } });
    expect([one('sid').reading(parsed()).args, one('uid').reading(parsed()).args]).toEqual([
      ['1'],
      [undefined],
    ]);
    expect(covered(one('sid'), parsed)).toEqual(['cookie']);
    expect(covered(one('uid'), parsed)).toEqual([]);
    // Nest itself throws here; the handler tells of it.
    expect(one('sid').reading(request()).args).toEqual([undefined]);
  });
});

describe('A name says who asks', () => {
  it.each([
    ...[
      'user',
      'currentUser',
      'user_id',
      'uid',
      'connect.sid',
      'PHPSESSID',
      'JSESSIONID',
      'auth',
      'auth0',
      'oauth',
    ],
    ...[
      'isAuthenticated',
      'authorization',
      'x-auth-token',
      'accessToken',
      'jwt',
      'principal',
      'identity',
      'accountId',
    ],
    ...['subject', 'login', 'credentials', 'member', 'customer', 'remember_me', 'userUid', '__Host-sess'],
  ])('%s', (name) => expect(saysWhoAsks(name)).toBe(true));

  it.each([
    ...[
      'theme',
      'guide',
      'sidebar',
      'inside',
      'author',
      'authority',
      'authors',
      'assessment',
      'locale',
      'tenant',
    ],
    ...['params', 'query', 'body', 'ip', 'url', 'method', 'socket', 'client', 'hostname', ''],
  ])('not: %s', (name) => expect(saysWhoAsks(name)).toBe(false));
});

describe('A custom decorator covers', () => {
  const request = () => ({
    headers: { ...sent, 'x-region': 'eu' },
    user: { id: 7 },
    cookies: { sid: '1', theme: 'dark' },
    session: { cart: 3, userId: 7 },
    sessionID: 's1',
    sessionStore: { size: 1 },
    account: undefined,
    tenant: 'a',
    raw: { headers: { ...sent }, user: { id: 7 }, rawHeaders: ['Cookie', 'sid=1'] },
    [Symbol('user')]: 7,
  });
  const marked = (request: AnyRequest) =>
    request[Object.getOwnPropertySymbols(request)[0] as unknown as string] as unknown;

  it.each<[string, (request: AnyRequest) => unknown, string[]]>([
    ['nothing that it did not read', () => 7, []],
    ['nothing by what says nothing of who asks', (it) => [it['tenant'], it['headers']['x-region']], []],
    ['everything by the user', (it) => it['user'].id, BOTH],
    ['everything by the user on the raw request', (it) => it['raw'].user.id, BOTH],
    ['everything by a symbol that is named so', marked, BOTH],
    ['a header by reading it', (it) => it['headers'].authorization, ['authorization']],
    ['a header of the raw request', (it) => it['raw'].headers.cookie, ['cookie']],
    ['cookies by reading them', (it) => it['cookies'].sid, ['cookie']],
    ['cookies by all of them', (it) => it['cookies'], ['cookie']],
    ['nothing by a cookie that does not say who asks', (it) => it['cookies'].theme, []],
    ['cookies by who the session belongs to', (it) => it['session'].userId, ['cookie']],
    ['cookies by the id of the session', (it) => it['sessionID'], ['cookie']],
    ['nothing by something else of the session', (it) => it['session'].cart, []],
    ['nothing by the store of all sessions', (it) => it['sessionStore'].size, []],
    ['nothing by what stands in for nobody', (it) => it['account'] ?? it['cookies'].uid ?? 'guest', []],
    ['everything by a copy of the headers', (it) => ({ ...it['headers'] }), BOTH],
    ['nothing by the list of the names of headers', (it) => Object.keys(it['headers']), []],
    ['everything by the headers as text', (it) => JSON.stringify(it['headers']), BOTH],
    ['everything by the headers themselves', (it) => it['headers'], BOTH],
    ['nothing by a list', (it) => it['raw'].rawHeaders, []],
    ['nothing by the names in a copy of the request', (it) => Object.keys({ ...it }), []],
    [
      'nothing by asking for presence',
      (it) => 'authorization' in it['headers'] || Object.hasOwn(it, 'user'),
      [],
    ],
    ['nothing by undefined', (it) => void it['user'], []],
    ['nothing by null', (it) => it['user'] && null, []],
    ['nothing by a yes or no', (it) => it['user'] === 7, []],
    ['nothing by an empty text', (it) => it['user'] && '', []],
    ['nothing by zero', (it) => it['user'] && 0, []],
    ['nothing by an object without content', (it) => it['user'] && { id: undefined, name: '' }, []],
    ['nothing by an instance', (it) => Object.assign(new Account(), { role: it['user'] && 'admin' }), []],
    ['nothing by an object with an instance in it', (it) => ({ id: it['user'] && 1, of: new Account() }), []],
    ['nothing by an object with toJSON()', (it) => ({ id: it['user'] && 1, toJSON: () => ({}) }), []],
    ['nothing by an object with a hidden property', (it) => hiding({ role: it['user'] && 'admin' }), []],
    ['everything by a plain object', (it) => ({ id: it['user'] && 1, roles: ['admin'] }), BOTH],
  ])('%s', (_, ask, expected) => {
    expect(covered(asking(ask), request)).toEqual(expected);
  });

  it('what another one did not: each for itself', () => {
    const both = asking(
      (it) => it['headers'].authorization,
      (it) => it['cookies'].sid,
    );
    expect(both.reading(request(), BOTH).isCovered).toBe(true);
    // One read it and returned nothing, the other returned something and read nothing.
    const neither = asking(
      (it) => void it['user'],
      () => 'something',
    );
    expect(covered(neither, request)).toEqual([]);
  });

  it('by what it reads later', async () => {
    const { plan } = asking(async (it) => {
      await Promise.resolve();
      return it['user'].id as unknown;
    });
    const reading = await plan.reader.read(contextOf(request()), BOTH);
    expect([reading?.parts, reading?.isCovered]).toEqual([['@0', 7], true]);
  });

  it('with the same value as without being watched', () => {
    const values = (credentials: string[]): InputReading =>
      asking(
        (it) => it['headers'],
        (it) => it,
        (it) => it['headers'] === it['headers'],
        (it) => it['user'],
        (it) => it['session'],
      ).reading(original, credentials);
    const original = request();
    const watched = values(BOTH);
    expect(watched.args).toEqual(values([]).args);
    expect(watched.args[0]).toBe(original.headers);
    expect(watched.args[1]).toBe(original);
    expect(watched.args[3]).toBe(original.user);
    expect(watched.args[4]).toBe(original.session);
  });

  it('nothing where it fails only when watched; its value counts', async () => {
    class Odd {
      headers = sent;
      user = { id: 7 };
      #secret = 's';
      secret() {
        return this.#secret;
      }
    }
    const ask = (it: AnyRequest) => [it['user'].id, it['secret']()] as unknown;
    const subject = asking(ask);
    const reading = subject.reading(new Odd() as never, BOTH);
    expect([reading.parts, reading.isCovered]).toEqual([['@0', [7, 's']], false]);
    const later = asking(async (it) => Promise.resolve().then(() => ask(it)));
    const settled = await later.plan.reader.read(contextOf(new Odd() as never), BOTH);
    expect([settled?.parts, settled?.isCovered]).toEqual([['@0', [7, 's']], false]);
  });

  it('from a context that is like the real one', () => {
    const handler = () => undefined;
    class Host {}
    const seen: unknown[] = [];
    const { plan } = resolve(
      taking(
        Custom((context: ExecutionContext) => {
          const http = context.switchToHttp();
          seen.push(context.getType(), context.getClass(), context.getHandler(), context.getArgs().length);
          seen.push(
            http.getResponse() === context.getArgByIndex(1),
            http.getNext() === context.getArgByIndex(2),
          );
          seen.push(http.getRequest() === context.getArgs()[0]);
          return context.getArgByIndex<AnyRequest>(0)['user'] as unknown;
        }),
      ),
    );
    const context = contextOf(request(), Host, handler);
    const original = context.switchToHttp().getRequest<unknown>();
    const reading = plan.reader.read(context, BOTH) as InputReading;
    expect(reading.isCovered).toBe(true);
    expect(seen).toEqual(['http', Host, handler, 3, true, true, true]);
    expect(context.switchToHttp().getRequest()).toBe(original);
  });

  it('by asking Express, whose own reading of other headers counts for nothing', () => {
    const platform = () => {
      const request = Object.create(express.request) as AnyRequest;
      Object.defineProperty(request, 'headers', { value: { ...sent, host: 'a.b' }, configurable: true });
      Object.defineProperty(request, 'app', { value: express() });
      Object.defineProperty(request, 'socket', { value: { remoteAddress: '::1' } });
      return request as TestRequest;
    };
    const headers = (name: string) => asking((it) => it['get'](name) as unknown);
    expect(covered(headers('Authorization'), platform)).toEqual(['authorization']);
    expect(covered(headers('Host'), platform)).toEqual([]);
    expect(
      covered(
        asking((it) => it['header']('cookie') as unknown),
        platform,
      ),
    ).toEqual(['cookie']);
    expect(
      covered(
        asking((it) => [it['hostname'], it['ip']]),
        platform,
      ),
    ).toEqual([]);
  });

  it('nothing by what a getter of the platform reads for itself', () => {
    const platform = () => {
      const raw = { headers: { ...sent, 'x-region': 'eu' } };
      // As Fastify does where headers were replaced.
      return {
        raw,
        get headers() {
          return { ...this.raw.headers };
        },
      };
    };
    expect(
      covered(
        asking((it) => it['headers']['x-region'] as unknown),
        platform,
      ),
    ).toEqual([]);
  });

  it('without being watched where no credential was sent', () => {
    const original = request();
    let seen: unknown;
    const { reading } = asking((it) => {
      seen = it;
      return 1;
    });
    expect(reading(original).isCovered).toBe(true);
    expect(seen).toBe(original);
  });
});
