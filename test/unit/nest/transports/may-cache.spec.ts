import { Controller } from '@nestjs/common';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { of } from 'rxjs';
import { mayCache } from '../../../../lib/nest/route/transports/index.js';
import { contextOf, infoOf } from './kit.js';

@Controller()
class Handlers {
  @MessagePattern('m')
  message(): void {}
  @EventPattern('e')
  event(_data: unknown): void {}
}

describe('Whether a call may be answered from the cache', () => {
  it.each([
    ['query', 'Query', 'yes'],
    ['query', 'Product', 'yes'],
    ['mutation', 'Mutation', 'mutation'],
    ['subscription', 'Subscription', 'subscription'],
  ])('GraphQL: within a %s, of a field of %s: %s', (operation, parentType, verdict) => {
    const info = infoOf('field', parentType, operation);
    expect(mayCache(contextOf('graphql', [undefined, {}, {}, info]))).toBe(verdict);
  });

  it('GraphQL: a field below a mutation shows what the mutation did, so it runs', () => {
    const info = infoOf('price', 'Product', 'mutation');
    expect(mayCache(contextOf('graphql', [{ id: 1 }, {}, {}, info]))).toBe('mutation');
  });

  it('GraphQL: a reference resolver is called without arguments', () => {
    expect(mayCache(contextOf('graphql', [{ id: 1 }, {}, infoOf('_entities')]))).toBe('yes');
  });

  it('GraphQL: what shows no operation runs', () => {
    expect(mayCache(contextOf('graphql', [{ id: 1 }]))).toBe('no operation');
    expect(mayCache(contextOf('graphql', [{}, {}, {}, { fieldName: 'x' }]))).toBe('no operation');
  });

  it('RPC: a message, but no event and no stream', () => {
    expect(mayCache(contextOf('rpc', [{ id: 1 }, {}], Handlers, 'message'))).toBe('yes');
    expect(mayCache(contextOf('rpc', [{ id: 1 }, {}], Handlers, 'event'))).toBe('event');
    expect(mayCache(contextOf('rpc', [of(1), {}], Handlers, 'message'))).toBe('stream');
  });

  it('a transport that nobody knows', () => {
    expect(mayCache(contextOf('telegram', []))).toBe('unknown transport');
  });
});
