import { type ArgumentsHost, Controller, Injectable, Module, UseFilters } from '@nestjs/common';
import { APP_FILTER, ExternalContextCreator } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { type ClientProxy, ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { graphql, GraphQLInt, GraphQLObjectType, GraphQLSchema } from 'graphql';
import {
  Cached,
  ConfigurationError,
  LoadRejectedError,
  StampedeCacheExceptionFilter,
  StampedeCacheModule,
} from 'nestjs-stampede-cache';
import { lastValueFrom } from 'rxjs';
import { freePort } from '../support/free-port.js';
import { Lines } from './kit.js';

const filter = { provide: APP_FILTER, useClass: StampedeCacheExceptionFilter };
const message = expect.stringMatching(/Try again later\.$/) as string;

describe('StampedeCacheExceptionFilter over RPC', () => {
  @Controller()
  class Products {
    @MessagePattern('slow')
    @Cached({ loadTimeout: 5 })
    async slow(): Promise<never> {
      return new Promise(() => undefined);
    }
    @MessagePattern('wrong')
    async wrong(): Promise<never> {
      throw new ConfigurationError('wrong');
    }
  }

  it('sends code and retryAfter where there is no HTTP at all', async () => {
    const lines = new Lines();
    const module = await Test.createTestingModule({
      imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' } })],
      controllers: [Products],
      providers: [filter],
    })
      .setLogger(lines)
      .compile();
    const options = { host: '127.0.0.1', port: await freePort() };
    const server = module.createNestMicroservice({ transport: Transport.TCP, options });
    await server.listen();
    const client: ClientProxy = ClientProxyFactory.create({ transport: Transport.TCP, options });
    const errorOf = (pattern: string): Promise<unknown> =>
      lastValueFrom(client.send(pattern, {})).then(
        () => undefined,
        (error: unknown) => error,
      );
    try {
      expect(await errorOf('slow')).toEqual({
        status: 'error',
        message,
        code: 'LOAD_TIMEOUT',
        retryAfter: 5,
      });
      expect(await errorOf('slow')).toMatchObject({ code: 'LOAD_TIMEOUT' });
      // As without the filter.
      expect(await errorOf('wrong')).toEqual({ status: 'error', message: 'Internal server error' });
      expect(lines.ofCache('warn')).toEqual([expect.stringMatching(/LOAD_TIMEOUT: .*Products\.slow/)]);
    } finally {
      await client.close();
      await server.close();
    }
  });
});

describe('StampedeCacheExceptionFilter over GraphQL', () => {
  @Injectable()
  @UseFilters(StampedeCacheExceptionFilter)
  class Resolver {
    async shed(): Promise<never> {
      throw new LoadRejectedError('Resolver.shed at 10.0.0.7', 1_500);
    }
    async wrong(): Promise<never> {
      throw new Error('wrong');
    }
  }

  it('reports code and retryAfter as extensions, by way of what @nestjs/graphql calls resolvers with', async () => {
    @Module({ providers: [Resolver] })
    class Root {}
    const module = await Test.createTestingModule({ imports: [Root] })
      .setLogger(new Lines())
      .compile();
    await module.init();
    const creator = module.get(ExternalContextCreator);
    const resolver = module.get(Resolver);
    const field = (name: 'shed' | 'wrong') => ({
      type: GraphQLInt,
      resolve: creator.create(
        resolver,
        resolver[name],
        name,
        undefined,
        undefined,
        undefined,
        undefined,
        undefined,
        'graphql',
      ),
    });
    const query = new GraphQLObjectType({
      name: 'Query',
      fields: { shed: field('shed'), wrong: field('wrong') },
    });
    const result = await graphql({ schema: new GraphQLSchema({ query }), source: '{ shed wrong }' });
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({
      data: { shed: null, wrong: null },
      errors: [
        { message, path: ['shed'], extensions: { code: 'LOAD_REJECTED', retryAfter: 1_500 } },
        { message: 'wrong', path: ['wrong'] },
      ],
    });
    expect(JSON.stringify(result)).not.toMatch(/10\.0\.0\.7/);
    await module.close();
  });
});

describe('StampedeCacheExceptionFilter elsewhere', () => {
  const error = new LoadRejectedError('Gateway.find', 1_500);

  function hostOf(type: string, args: unknown[]): ArgumentsHost {
    const host = new ExecutionContextHost(args);
    host.setType(type);
    return host;
  }

  it('tells a WebSocket client by the event `exception`, as the own filter of Nest does', () => {
    const emitted: unknown[] = [];
    const client = { emit: (...what: unknown[]) => emitted.push(...what) };
    new StampedeCacheExceptionFilter().catch(error, hostOf('ws', [client, {}]));
    expect(emitted).toEqual([
      'exception',
      { status: 'error', message, code: 'LOAD_REJECTED', retryAfter: 1_500 },
    ]);
  });

  it('throws the error on where it knows nothing of the transport', () => {
    expect(() => new StampedeCacheExceptionFilter().catch(error, hostOf('telegram', []))).toThrow(error);
  });
});
