import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Args, GqlExecutionContext, Query, Resolver } from '@nestjs/graphql';
import { carriedCredentials } from '../../../../lib/nest/route/transports/index.js';
import { contextOf, infoOf, readerOf, readNow } from './kit.js';

const BOTH = ['authorization', 'cookie'];
type Look = (context: never, execution: ExecutionContext) => unknown;

/** A custom decorator that returns what `look` finds in the GraphQL context. */
function decoratorOf(look: Look) {
  return createParamDecorator((_data: unknown, context: ExecutionContext) =>
    look(GqlExecutionContext.create(context).getContext(), context),
  );
}

function resolverOf(look: Look) {
  const Custom = decoratorOf(look);
  @Resolver()
  class Products {
    @Query(() => String)
    find(@Args('id') _id: number, @Custom() _custom: unknown): string {
      return '';
    }
  }
  return Products;
}

class FetchHeaders {
  readonly #map = new Map([['authorization', 'Bearer b']]);
  get(name: string) {
    return this.#map.get(name.toLowerCase()) ?? null;
  }
  keys() {
    return this.#map.keys();
  }
}

const express = {
  headers: { authorization: 'Bearer a', cookie: 'sid=1; theme=dark' },
  rawHeaders: ['Authorization', 'Bearer a'],
  cookies: { sid: '1', theme: 'dark' },
  user: { id: 7 },
  get(name: string): unknown {
    return (this.headers as Record<string, string>)[name.toLowerCase()];
  },
};

const callOf = (context: object) => contextOf('graphql', [undefined, { id: 1 }, context, infoOf('find')]);

function coveredBy(look: Look, context: object = { req: express, user: { id: 8 } }): string[] {
  const reader = readerOf('graphql', resolverOf(look), 'find');
  return BOTH.filter((credential) => readNow(reader, callOf(context), [credential]).isCovered);
}

describe('The credentials a call carries', () => {
  it.each<[string, object, string[]]>([
    ['req', { req: express }, BOTH],
    ['request', { request: { headers: { cookie: 'a=b' } } }, ['cookie']],
    ['the Headers of fetch', { request: { headers: new FetchHeaders() } }, ['authorization']],
    ['the context itself', { headers: { authorization: 'x', cookie: '' } }, ['authorization']],
    ['none of them', { req: { headers: {} } }, []],
    ['nothing that shows a request', { loaders: {} }, BOTH],
  ])('in GraphQL, by way of %s: %o', (_, context, carried) => {
    expect(carriedCredentials(callOf(context), BOTH)).toEqual(carried);
  });

  it.each<[string, unknown, string[]]>([
    ['TCP', { getPattern: () => 'p' }, []],
    ['NATS', { getHeaders: () => new FetchHeaders() }, ['authorization']],
    ['gRPC', { getMap: () => ({ authorization: 'x' }), get: () => ['x'] }, ['authorization']],
    ['Kafka', { getMessage: () => ({ headers: { Authorization: 'x' } }) }, ['authorization']],
    ['RabbitMQ', { getMessage: () => ({ properties: { headers: { cookie: 'x' } } }) }, ['cookie']],
    ['MQTT', { getPacket: () => ({ properties: { userProperties: { cookie: 'x' } } }) }, ['cookie']],
    ['nothing', undefined, []],
  ])('in a message of %s', (_, context, carried) => {
    expect(carriedCredentials(contextOf('rpc', [{}, context]), BOTH)).toEqual(carried);
  });

  it('in the handshake of a socket', () => {
    const client = { handshake: { headers: { cookie: 'x' }, auth: {} } };
    expect(carriedCredentials(contextOf('ws', [client, {}]), BOTH)).toEqual(['cookie']);
    expect(carriedCredentials(contextOf('ws', [{}, {}]), BOTH)).toEqual([]);
  });
});

describe('What covers a credential', () => {
  it('nothing that the plain arguments say; and nothing is needed where none is carried', () => {
    const reader = readerOf(
      'graphql',
      resolverOf(() => 1),
      'find',
    );
    expect(readNow(reader, callOf({ req: express }), BOTH).isCovered).toBe(false);
    expect(readNow(reader, callOf({ req: express }), []).isCovered).toBe(true);
  });

  it.each<[string, Look, string[]]>([
    ['the user of the request', (c: { req: typeof express }) => c.req.user.id, BOTH],
    ['the user of the context', (c: { user: { id: number } }) => c.user.id, BOTH],
    ['the header itself', (c: { req: typeof express }) => c.req.headers.authorization, ['authorization']],
    ['the header by a method', (c: { req: typeof express }) => c.req.get('Authorization'), ['authorization']],
    ['all headers', (c: { req: typeof express }) => c.req.headers, BOTH],
    ['all headers, of which it returns a copy', (c: { req: typeof express }) => ({ ...c.req.headers }), BOTH],
    ['the number of all headers', (c: { req: typeof express }) => Object.keys(c.req.headers).length, []],
    [
      'all headers, of which it returns one',
      (c: { req: typeof express }) => ({ ...c.req.headers }).authorization,
      ['authorization'],
    ],
    ['the number of raw headers', (c: { req: typeof express }) => c.req.rawHeaders.length, []],
    [
      'raw headers, of which it returns one',
      (c: { req: typeof express }) => c.req.rawHeaders[1],
      ['authorization'],
    ],
    ['the request as a whole', (c: { req: typeof express }) => ({ ...c.req }).rawHeaders[0], []],
    [
      'all cookies, of which it returns one',
      (c: { req: typeof express }) => ({ ...c.req.cookies }).theme,
      [],
    ],
    ['a cookie that says who asks', (c: { req: typeof express }) => c.req.cookies.sid, ['cookie']],
    ['all cookies', (c: { req: typeof express }) => ({ ...c.req.cookies }), ['cookie']],
    ['a cookie that does not', (c: { req: typeof express }) => c.req.cookies.theme, []],
    ['another header', (c: { req: { headers: object } }) => Reflect.get(c.req.headers, 'accept') ?? 'x', []],
    ['no answer', (c: { req: typeof express }) => void c.req.user, []],
    ['null', (c: { req: typeof express }) => (c.req.user, null), []],
    [
      'the context by Nest alone',
      (_: never, execution) => execution.getArgByIndex<{ req: typeof express }>(2).req.user.id,
      BOTH,
    ],
  ] as [string, Look, string[]][])('a custom decorator that reads %s', (_, look, covered) => {
    expect(coveredBy(look)).toEqual(covered);
  });

  it('a frozen context, where nothing can be recorded within, leaves the call uncovered and whole', () => {
    const frozen = Object.freeze({ req: express });
    expect(coveredBy((c: typeof frozen) => c.req.user.id, frozen)).toEqual([]);
  });

  it('the Headers of fetch, whose state is private', () => {
    const request = { headers: new FetchHeaders() };
    type Context = { request: typeof request };
    expect(coveredBy((c: Context) => c.request.headers.get('Authorization'), { request })).toEqual([
      'authorization',
    ]);
    const all = ({ request: { headers } }: Context) => [...headers.keys()].map((name) => headers.get(name));
    expect(coveredBy((c: Context) => ({ all: all(c).join() }), { request })).toEqual(['authorization']);
    expect(coveredBy((c: Context) => [...c.request.headers.keys()].join(), { request })).toEqual([]);
  });

  it('what a broker keeps by headers of its own, where the value is returned', () => {
    const values = { authorization: 'Bearer c', region: 'eu' };
    const metadata = { getMap: () => values, get: (name: keyof typeof values) => [values[name]] };
    const Custom = createParamDecorator((look: (m: typeof metadata) => unknown, context: ExecutionContext) =>
      look(context.switchToRpc().getContext<typeof metadata>()),
    );
    const covers = (look: (m: typeof metadata) => unknown) => {
      class Products {
        find() {}
      }
      Custom(look)(Products.prototype, 'find', 0);
      const context = contextOf('rpc', [{}, metadata]);
      return readNow(readerOf('rpc', Products, 'find'), context, ['authorization']).isCovered;
    };
    expect(covers((m) => m.getMap().authorization)).toBe(true);
    expect(covers((m) => m.getMap().region)).toBe(false);
    expect(covers((m) => m.get('authorization')[0])).toBe(true);
    expect(covers((m) => m.get('region')[0])).toBe(false);
  });

  it('a decorator that does not bear stand-ins is asked again with the real thing, and covers nothing', () => {
    const strict = (c: { req: typeof express }) => {
      if (c.req !== express) throw new Error('not the request');
      return c.req.user.id;
    };
    const reader = readerOf('graphql', resolverOf(strict), 'find');
    const reading = readNow(reader, callOf({ req: express }), BOTH);
    expect(reading.args[1]).toBe(7);
    expect(reading.isCovered).toBe(false);
  });

  it('gives the decorator the values themselves, and the key no stand-in', () => {
    const reader = readerOf(
      'graphql',
      resolverOf((c: { req: typeof express }) => c.req.user),
      'find',
    );
    expect(readNow(reader, callOf({ req: express }), BOTH).args[1]).toBe(express.user);
    const headers = readerOf(
      'graphql',
      resolverOf((c: { req: typeof express }) => c.req.headers),
      'find',
    );
    expect(readNow(headers, callOf({ req: express }), BOTH).args[1]).toBe(express.headers);
  });

  it('http.key, unless it says nothing', () => {
    const covered = (key: unknown, credentials = BOTH) => {
      const reader = readerOf(
        'graphql',
        resolverOf(() => 1),
        'find',
        { key: () => key as string },
      );
      return readNow(reader, callOf({ req: express }), credentials).isCovered;
    };
    expect([covered('all'), covered(0), covered(['a', null])]).toEqual([true, true, true]);
    expect([covered(undefined), covered(null), covered(''), covered([null])]).toEqual(Array(4).fill(false));
    expect(covered(undefined, [])).toBe(true);
  });

  it('http.inputs that name the credential, or a cookie that says who asks, where it has a value', () => {
    const Products = resolverOf(() => 1);
    const covered = (inputs: object, context: object = { req: express }) => {
      const reader = readerOf('graphql', Products, 'find', { inputs });
      return BOTH.filter((credential) => readNow(reader, callOf(context), [credential]).isCovered);
    };
    expect(covered({ headers: ['Authorization'] })).toEqual(['authorization']);
    expect(covered({ cookies: ['sid'] })).toEqual(['cookie']);
    expect(covered({ cookies: ['theme'] })).toEqual([]);
    expect(covered({ cookies: ['sid'] }, { req: { headers: { cookie: 'theme=dark' } } })).toEqual([]);
    const signed = { headers: { cookie: 'sid=s%3A1.ok' }, cookies: {}, signedCookies: { sid: '1' } };
    expect(covered({ cookies: ['sid'] }, { req: signed })).toEqual(['cookie']);
    expect(covered({ cookies: ['sid'] }, { req: { ...signed, signedCookies: {} } })).toEqual([]);
    expect(covered({ session: ['userId'] }, { req: { ...express, session: { userId: 4 } } })).toEqual([
      'cookie',
    ]);
  });
});
