import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import {
  Args,
  Context,
  GqlExecutionContext,
  Info,
  Parent,
  Query,
  ResolveField,
  ResolveReference,
  Resolver,
} from '@nestjs/graphql';
import { encodeParts } from '../../../../lib/core/keys/index.js';
import { resolveTransportInputs } from '../../../../lib/nest/route/transports/index.js';
import { contextOf, infoOf, problemOf, readerOf, readNow, resolve } from './kit.js';

const Locale = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const gql = GqlExecutionContext.create(context);
  return gql.getContext<{ req: { headers: Record<string, string> } }>().req.headers['accept-language'];
});
const Later = createParamDecorator(async (data: unknown) => data);
const Throwing = createParamDecorator(() => {
  throw new Error('no tenant');
});
const Rejecting = createParamDecorator(async () => {
  throw new Error('no tenant');
});

@Resolver('Product')
class Products {
  @Query(() => String)
  find(@Args('id') _id: number, @Args() _all: object, _plain: string, @Locale() _locale: string): string {
    return '';
  }
  @ResolveField(() => String)
  price(@Parent() _parent: object, @Args('currency') _currency: string): string {
    return '';
  }
  @ResolveField(() => String)
  constant(@Args('currency') _currency: string): string {
    return '';
  }
  @ResolveField(() => String)
  bare(_parent: object, _args: object): string {
    return '';
  }
  @ResolveField(() => String)
  bareWithContext(_parent: object, _args: object, _context: object): string {
    return '';
  }
  @ResolveReference()
  reference(_reference: object): string {
    return '';
  }
  @ResolveReference()
  referenceWithContext(_reference: object, _context: object): string {
    return '';
  }
  @Query(() => String)
  withContext(@Context('user') _user: object): string {
    return '';
  }
  @Query(() => String)
  withInfo(@Info() _info: object): string {
    return '';
  }
  @Query(() => String)
  later(@Later('tenant-1') _tenant: string): string {
    return '';
  }
  @Query(() => String)
  throwing(@Rejecting() _first: string, @Throwing() _tenant: string): string {
    return '';
  }
  @Query(() => String)
  rejecting(@Rejecting() _tenant: string): string {
    return '';
  }
}

class Product {
  constructor(
    readonly id: number,
    readonly name: string,
  ) {}
}

const request = {
  headers: { 'accept-language': 'de', 'x-tenant': 't1', cookie: 'sid=s1; theme=dark' },
  ip: '::1',
};
const call = (field: string, args: object, root?: object, context: object = { req: request }) =>
  contextOf('graphql', [root, args, context, infoOf(field, root ? 'Product' : 'Query')]);

describe('The inputs of a GraphQL resolver', () => {
  it('are the type, the field, its arguments, and what custom decorators return', () => {
    const args = Object.assign(Object.create(null) as object, { id: 7, other: 'x' });
    const reading = readNow(readerOf('graphql', Products, 'find'), call('find', args));
    expect(reading.parts).toEqual(['graphql', 'Query', 'find', { id: 7, other: 'x' }, 'de']);
    expect(reading.args).toEqual([7, { id: 7, other: 'x' }, undefined, 'de']);
  });

  it('are one key whatever the order of the arguments', () => {
    const reader = readerOf('graphql', Products, 'find');
    const text = (args: object) => encodeParts(readNow(reader, call('find', args)).parts);
    expect(text({ a: 1, b: 2 })).toBe(text({ b: 2, a: 1 }));
    expect(text({ a: 1, b: 2 })).not.toBe(text({ a: 1, b: 3 }));
  });

  it('are those of the parent where the handler takes it, by its own properties', () => {
    const warnings: string[] = [];
    const reader = readerOf('graphql', Products, 'price', { warnings });
    const text = (parent: Product) => encodeParts(readNow(reader, call('price', {}, parent)).parts);
    expect(text(new Product(1, 'a'))).toBe(text(new Product(1, 'a')));
    expect(text(new Product(1, 'a'))).not.toBe(text(new Product(2, 'a')));
    expect(warnings).toEqual([expect.stringMatching(/^Host\.price: .*http\.key/)]);
  });

  it('leave the parent out where the handler does not take it', () => {
    const reader = readerOf('graphql', Products, 'constant');
    const parts = (id: number) => readNow(reader, call('constant', {}, new Product(id, 'a'))).parts;
    expect(parts(1)).toEqual(parts(2));
  });

  it('are, without decorators, what the length of the handler says', () => {
    const reading = readNow(readerOf('graphql', Products, 'bare'), call('bare', { x: 1 }, { id: 1 }));
    expect(reading.parts).toEqual(['graphql', 'Product', 'bare', { x: 1 }, { id: 1 }]);
    expect(reading.args).toEqual([{ id: 1 }, { x: 1 }]);
    expect(problemOf('graphql', Products, 'bareWithContext')).toMatch(/takes @Context\(\)/);
  });

  it('are the reference where the graph is federated', () => {
    const reference = { __typename: 'Product', id: 1 };
    const context = contextOf('graphql', [reference, { req: request }, infoOf('_entities')]);
    const reading = readNow(readerOf('graphql', Products, 'reference'), context);
    expect(reading.parts).toEqual(['graphql', 'Query', '_entities', undefined, reference]);
    expect(reading.args).toEqual([reference]);
    expect(problemOf('graphql', Products, 'referenceWithContext')).toMatch(/takes @Context\(\)/);
  });

  it.each([
    ['withContext', '@Context()'],
    ['withInfo', '@Info()'],
  ])('%s: are refused for %s, unless the key or the inputs are said', (method, label) => {
    expect(problemOf('graphql', Products, method)).toBe(
      `Host.${method}: the handler takes ${label}, which can't be part of a key. Give http.key, or http.inputs with what the handler reads of it.`,
    );
    expect(resolve('graphql', Products, method, { key: () => 1 })).not.toBeInstanceOf(Error);
    expect(resolve('graphql', Products, method, { inputs: { headers: ['x'] } })).not.toBeInstanceOf(Error);
  });

  it('are the key alone where one is given', () => {
    const reader = readerOf('graphql', Products, 'withContext', {
      key: (context) => ['mine', context.getArgs<[unknown, { id: number }]>()[1].id],
    });
    const context = call('withContext', { id: 3 }, undefined, { req: request, user: { id: 9 } });
    expect(readNow(reader, context, ['authorization'])).toEqual({
      parts: ['graphql', ['mine', 3]],
      args: [{ id: 9 }],
      isCovered: true,
    });
  });

  it('take in what http.inputs names of the request', () => {
    const inputs = { headers: ['X-Tenant'], cookies: ['theme', 'none'], session: ['cart'], ip: true };
    const reader = readerOf('graphql', Products, 'withContext', { inputs });
    const context = call('withContext', {}, undefined, { req: { ...request, session: { cart: 'c1' } } });
    expect(readNow(reader, context).parts.slice(4)).toEqual(['t1', 'dark', undefined, 'c1', '::1']);
  });

  it('have neither path nor query nor body', () => {
    expect(problemOf('graphql', Products, 'find', { inputs: { query: ['a'], params: ['b'] } })).toBe(
      'Host.find: http.inputs.query and http.inputs.params: a call over graphql has none of it. Give http.key what identifies the answer.',
    );
    expect(resolve('graphql', Products, 'find', { inputs: { query: [], ip: false } })).not.toBeInstanceOf(
      Error,
    );
  });

  it('are refused for a class made per request, unless the key or the inputs are said', () => {
    const resolveScoped = (http: object) =>
      resolveTransportInputs('graphql', {
        prototype: Products.prototype,
        method: 'find',
        http,
        isRequestScoped: true,
        where: 'Products.find',
        warn: () => undefined,
      });
    expect(resolveScoped({})).toMatchObject({
      message: expect.stringMatching(/^Products\.find: its class is request-scoped/) as string,
    });
    expect(resolveScoped({ key: () => 1 })).not.toBeInstanceOf(Error);
    expect(resolveScoped({ inputs: {} })).not.toBeInstanceOf(Error);
  });

  it('may be asynchronous', async () => {
    const reading = readerOf('graphql', Products, 'later').read(call('later', {}), []);
    expect(reading).toBeInstanceOf(Promise);
    expect(await reading).toMatchObject({
      parts: ['graphql', 'Query', 'later', {}, 'tenant-1'],
      args: ['tenant-1'],
    });
  });

  it('are not there where a decorator throws or rejects, also both at once', async () => {
    expect(readerOf('graphql', Products, 'throwing').read(call('throwing', {}), [])).toBeUndefined();
    expect(await readerOf('graphql', Products, 'rejecting').read(call('rejecting', {}), [])).toBeUndefined();
  });
});
