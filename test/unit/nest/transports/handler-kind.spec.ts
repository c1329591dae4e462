import { Controller, Get } from '@nestjs/common';
import { Mutation, Query, ResolveField, ResolveReference, Resolver, Subscription } from '@nestjs/graphql';
import { EventPattern, GrpcMethod, GrpcStreamMethod, MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage } from '@nestjs/websockets';
import { Cached } from '../../../../lib/nest/decorators/cached.decorator.js';
import {
  graphqlRoleOf,
  handlerKindOf,
  handlerKindsOf,
  isReachedByClassMark,
  neverCached,
  type HandlerKind,
} from '../../../../lib/nest/route/transports/index.js';

@Resolver('Product')
class Resolvers {
  @Query(() => String)
  query(): string {
    return '';
  }
  @Mutation(() => String)
  mutation(): string {
    return '';
  }
  @Subscription(() => String)
  subscription(): string {
    return '';
  }
  @ResolveField(() => String)
  field(): string {
    return '';
  }
  @ResolveReference()
  reference(): string {
    return '';
  }
  plain(): string {
    return '';
  }
}

@Controller()
class Handlers {
  @Get()
  @MessagePattern('both')
  both(): string {
    return '';
  }
  @MessagePattern({ cmd: 'a' })
  message(): string {
    return '';
  }
  @Cached()
  @MessagePattern({ cmd: 'a' })
  async cached(): Promise<string> {
    return '';
  }
  @EventPattern('event')
  event(_data: unknown): string {
    return '';
  }
  @GrpcMethod('S', 'M')
  grpc(): string {
    return '';
  }
  @GrpcStreamMethod('S', 'Streamed')
  stream(): string {
    return '';
  }
  @SubscribeMessage('m')
  socket(): string {
    return '';
  }
  get accessor(): string {
    throw new Error('was read');
  }
}
class Inheriting extends Handlers {}

describe('What calls a handler', () => {
  it.each<[string, HandlerKind[]]>([
    ['both', ['http', 'rpc']],
    ['message', ['rpc']],
    ['cached', ['rpc']],
    ['event', ['rpc']],
    ['grpc', ['rpc']],
    ['socket', ['ws']],
    ['accessor', []],
    ['absent', []],
    ['constructor', []],
  ])('%s: %j, also when it is inherited', (method, kinds) => {
    expect(handlerKindsOf(Handlers.prototype, method)).toEqual(kinds);
    expect(handlerKindsOf(Inheriting.prototype, method)).toEqual(kinds);
    expect(handlerKindOf(Inheriting.prototype, method)).toBe(kinds[0]);
  });

  it.each([
    ['query', 'query'],
    ['mutation', 'mutation'],
    ['subscription', 'subscription'],
    ['field', 'field'],
    ['reference', 'reference'],
    ['plain', undefined],
    ['constructor', undefined],
  ])('the method %s of a resolver has the role %s', (method, role) => {
    expect(graphqlRoleOf(Resolvers.prototype, method)).toBe(role);
    expect(handlerKindOf(Resolvers.prototype, method)).toBe(role && 'graphql');
  });

  it('a method without a decorator is a query where the class is @Resolver("Query")', () => {
    @Resolver('Query')
    class Root {
      products(): string {
        return '';
      }
    }
    expect(graphqlRoleOf(Root.prototype, 'products')).toBe('query');
    expect(graphqlRoleOf(Root.prototype, 'constructor')).toBeUndefined();
  });

  it.each<[HandlerKind, { prototype: object }, string, string | undefined]>([
    ['graphql', Resolvers, 'query', undefined],
    ['graphql', Resolvers, 'field', undefined],
    ['graphql', Resolvers, 'mutation', 'a GraphQL mutation'],
    ['graphql', Resolvers, 'subscription', 'a GraphQL subscription'],
    ['rpc', Handlers, 'message', undefined],
    ['rpc', Handlers, 'grpc', undefined],
    ['rpc', Handlers, 'stream', 'a gRPC stream'],
    ['rpc', Handlers, 'event', 'an event handler, whose answer nobody waits for,'],
    ['ws', Handlers, 'socket', undefined],
  ])('%s, %o, %s: what is never cached is %s', (kind, type, method, reason) => {
    expect(neverCached(kind, type.prototype, method)).toBe(reason);
  });

  it.each<[HandlerKind, { prototype: object }, string, boolean]>([
    ['http', Handlers, 'both', true],
    ['rpc', Handlers, 'both', true],
    ['rpc', Handlers, 'event', false],
    ['ws', Handlers, 'socket', false],
    ['graphql', Resolvers, 'query', true],
    ['graphql', Resolvers, 'mutation', false],
    ['graphql', Resolvers, 'field', false],
    ['graphql', Resolvers, 'reference', false],
  ])('%s, %o, %s: a mark on the class reaches it: %s', (kind, type, method, isReached) => {
    expect(isReachedByClassMark(kind, type.prototype, method)).toBe(isReached);
  });
});
