import { Body, Controller, Get, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { Ctx, GrpcMethod, MessagePattern, Payload } from '@nestjs/microservices';
import { Ack, ConnectedSocket, MessageBody, SubscribeMessage } from '@nestjs/websockets';
import { contextOf, problemOf, readerOf, readNow } from './kit.js';

const Tenant = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    context.switchToRpc().getContext<{ tenant: string }>().tenant,
);

@Controller()
class Messages {
  @MessagePattern({ cmd: 'find' })
  bare(_data: object): void {}
  @MessagePattern(['a', 'b'])
  whole(@Payload() _data: object): void {}
  @MessagePattern('find')
  named(@Payload('id') _id: number, @Tenant() _tenant: string): void {}
  @MessagePattern('find')
  withContext(@Payload() _data: object, @Ctx() _context: object): void {}
  @Get()
  @MessagePattern('find')
  hybrid(@Body('id') _id: number): void {}
  @GrpcMethod('Products', 'Find')
  grpc(_data: object): void {}
  @GrpcMethod('Products', 'FindFor')
  grpcWithMetadata(_data: object, _metadata: object): void {}
}

class Gateway {
  @SubscribeMessage('find')
  whole(@MessageBody() _data: object): void {}
  @SubscribeMessage('find')
  named(@MessageBody('id') _id: number): void {}
  @SubscribeMessage('find')
  bare(_client: object, _data: object): void {}
  @SubscribeMessage('find')
  withSocket(@ConnectedSocket() _client: object, @MessageBody() _data: object): void {}
  @SubscribeMessage('find')
  withAck(@MessageBody() _data: object, @Ack() _ack: () => void): void {}
  @SubscribeMessage('ping')
  nothing(): void {}
}

const message = (data: unknown) => contextOf('rpc', [data, { tenant: 't1' }]);
const frame = (data: unknown) => contextOf('ws', [{ send: () => undefined }, data, 'find']);

describe('The inputs of a message handler', () => {
  it.each<[string, unknown[], unknown[]]>([
    ['bare', [[{ cmd: 'find' }], { id: 1, q: 2 }], [{ id: 1, q: 2 }]],
    ['whole', [['a', 'b'], { id: 1, q: 2 }], [{ id: 1, q: 2 }]],
    ['named', [['find'], 1, 't1'], [1, 't1']],
    ['hybrid', [['find'], 1], [1]],
  ])('%s: are its patterns and %j', (method, parts, args) => {
    const reading = readNow(readerOf('rpc', Messages, method), message({ id: 1, q: 2 }));
    expect(reading).toEqual({ parts: ['rpc', ...parts], args, isCovered: true });
  });

  it('are undefined where a named part is missing, or the payload is none', () => {
    const reader = readerOf('rpc', Messages, 'named');
    for (const payload of [undefined, null, 'text', {}]) {
      expect(readNow(reader, message(payload)).parts).toEqual(['rpc', ['find'], undefined, 't1']);
    }
  });

  it('are refused for @Ctx(), unless the key is said; inputs speak of HTTP', () => {
    expect(problemOf('rpc', Messages, 'withContext')).toBe(
      "Host.withContext: the handler takes @Ctx(), which can't be part of a key. Give http.key with what the handler reads of it.",
    );
    expect(problemOf('rpc', Messages, 'withContext', { inputs: { headers: ['x'] } })).toMatch(
      /http\.inputs\.headers/,
    );
    const reader = readerOf('rpc', Messages, 'withContext', {
      key: (context) => context.switchToRpc().getData<number>(),
    });
    expect(readNow(reader, message(4), ['authorization'])).toMatchObject({
      parts: ['rpc', 4],
      isCovered: true,
    });
  });

  it('are, over gRPC and without decorators, also the metadata', () => {
    expect(readNow(readerOf('rpc', Messages, 'grpc'), message({ id: 1 })).args).toEqual([{ id: 1 }]);
    expect(problemOf('rpc', Messages, 'grpcWithMetadata')).toMatch(/takes @Ctx\(\)/);
  });
});

describe('The inputs of a method of a gateway', () => {
  it('are the name of the message and its body, or the named part', () => {
    expect(readNow(readerOf('ws', Gateway, 'whole'), frame({ id: 1, q: 2 }))).toEqual({
      parts: ['ws', 'find', { id: 1, q: 2 }],
      args: [{ id: 1, q: 2 }],
      isCovered: true,
    });
    expect(readNow(readerOf('ws', Gateway, 'named'), frame({ id: 1, q: 2 })).parts).toEqual([
      'ws',
      'find',
      1,
    ]);
    expect(readNow(readerOf('ws', Gateway, 'nothing'), frame({ id: 1 })).parts).toEqual(['ws', 'ping']);
  });

  it.each(['withSocket', 'bare'])('%s: are refused for the socket, unless the key is said', (method) => {
    expect(problemOf('ws', Gateway, method)).toMatch(/takes @ConnectedSocket\(\)/);
    const reader = readerOf('ws', Gateway, method, { key: () => 'one' });
    expect(readNow(reader, frame(1)).parts).toEqual(['ws', 'one']);
  });

  it('are refused for @Ack() whatever is said: a hit would acknowledge nothing', () => {
    expect(problemOf('ws', Gateway, 'withAck', { key: () => 1 })).toMatch(
      /takes @Ack\(\) and answers by calling it/,
    );
  });
});
