import type { ExecutionContext } from '@nestjs/common';
import express from 'express';
import type { InputReading } from '../../../../lib/nest/route/contracts.js';
import {
  asking,
  BOTH,
  contextOf,
  covered,
  Custom,
  resolve,
  SENT,
  taking,
  type AnyRequest,
  type TestRequest,
} from './kit.js';

const USER = Symbol('user');

class Account {
  role = 'guest';
}

/** As the package `cookie` makes its records. */
const Bare = function () {} as unknown as new () => object;
Bare.prototype = Object.create(null) as object;

function hiding(value: object): object {
  return Object.defineProperty(value, 'id', { value: 7, enumerable: false });
}

describe('A custom decorator covers', () => {
  const request = () => ({
    headers: { ...SENT, 'x-region': 'eu' },
    user: { id: 7 },
    cookies: { sid: '1', theme: 'dark' },
    session: { cart: 3, userId: 7 },
    sessionID: 's1',
    sessionStore: { size: 1 },
    account: undefined,
    tenant: 'a',
    raw: { headers: { ...SENT }, user: { id: 7 }, rawHeaders: ['Cookie', 'sid=1'] },
    [USER]: 7,
  });
  const marked = (request: AnyRequest) => request[USER as unknown as string] as unknown;

  it.each<[string, (request: AnyRequest) => unknown, string[]]>([
    ['nothing that it did not read', () => 7, []],
    ['nothing by what says nothing of who asks', (it) => `${it['tenant']} ${it['headers']['x-region']}`, []],
    ['nothing by a list', (it) => [it['user'].id], []],
    ['everything by the user', (it) => it['user'].id, BOTH],
    ['everything by the user on the raw request', (it) => it['raw'].user.id, BOTH],
    ['everything by a symbol that is named so', marked, BOTH],
    ['a header by reading it', (it) => it['headers'].authorization, ['authorization']],
    ['a header of the raw request', (it) => it['raw'].headers.cookie, ['cookie']],
    ['cookies by reading them', (it) => it['cookies'].sid, ['cookie']],
    ['nothing by a cookie that does not say who asks', (it) => it['cookies'].theme, []],
    ['cookies by who the session belongs to', (it) => it['session'].userId, ['cookie']],
    ['cookies by the id of the session', (it) => it['sessionID'], ['cookie']],
    ['nothing by something else of the session', (it) => it['session'].cart, []],
    ['nothing by the store of all sessions', (it) => it['sessionStore'].size, []],
    ['nothing by what stands in for nobody', (it) => it['account'] ?? it['cookies'].uid ?? 'guest', []],
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
    ['everything by a record of a parser', (it) => Object.assign(new Bare(), { id: it['user'] && 1 }), BOTH],
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
      headers = SENT;
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
      Object.defineProperty(request, 'headers', { value: { ...SENT, host: 'a.b' }, configurable: true });
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
      const raw = { headers: { ...SENT, 'x-region': 'eu' } };
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
