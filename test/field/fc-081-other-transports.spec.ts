import { Controller, Get, type INestApplication, Injectable, Module, Sse } from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  Field as GraphqlField,
  GraphQLModule,
  GraphQLSchemaHost,
  Int,
  Mutation,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  Resolver,
  Subscription,
} from '@nestjs/graphql';
import { ClientProxyFactory, EventPattern, MessagePattern, Transport } from '@nestjs/microservices';
import { WsAdapter } from '@nestjs/platform-ws';
import { Test } from '@nestjs/testing';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { StampedeCacheInterceptor, StampedeCacheService } from 'nestjs-stampede-cache';
import { lastValueFrom, of, type Observable, toArray } from 'rxjs';
import { WebSocket } from 'undici';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';
import { field } from './support/field.js';

const here = field();

@Injectable()
class Runs {
  private readonly byName = new Map<string, number>();

  count(name: string): number {
    const runs = this.of(name) + 1;
    this.byName.set(name, runs);
    return runs;
  }

  of(name: string): number {
    return this.byName.get(name) ?? 0;
  }
}

@ObjectType()
class Product {
  @GraphqlField(() => Int)
  id!: number;
}

@Resolver(() => Product)
class Resolvers {
  constructor(private readonly runs: Runs) {}

  @Query(() => [Product])
  products(): Product[] {
    this.runs.count('query');
    return Array.from({ length: 50 }, (_, id) => ({ id }));
  }
  @ResolveField(() => Int)
  price(@Parent() { id }: Product): number {
    this.runs.count('field');
    return id;
  }
  @Mutation(() => Int)
  buy(): number {
    return this.runs.count('mutation');
  }
  @Subscription(() => Int)
  ticks(): AsyncIterable<{ ticks: number }> {
    this.runs.count('subscription');
    return twoTicks();
  }
}

async function* twoTicks(): AsyncGenerator<{ ticks: number }> {
  yield { ticks: 1 };
  yield { ticks: 2 };
}

@Controller()
class Handlers {
  constructor(private readonly runs: Runs) {}

  @Get('rest')
  rest(): object {
    return { run: this.runs.count('rest') };
  }
  @Sse('events')
  events(): Observable<object> {
    this.runs.count('sse');
    return of({ data: 'one' }, { data: 'two' }, { data: 'three' });
  }
  @MessagePattern('message')
  message(id: number): number {
    return this.runs.count('message') * 100 + id;
  }
  @EventPattern('event')
  event(_id: number): void {
    this.runs.count('event');
  }
}

@WebSocketGateway()
class Gateway {
  constructor(private readonly runs: Runs) {}

  @SubscribeMessage('ask')
  ask(@MessageBody() id: number): object {
    return { event: 'answer', data: [id, this.runs.count('ws')] };
  }
}

const interceptor = { provide: APP_INTERCEPTOR, useClass: StampedeCacheInterceptor };

interface Everything {
  readonly app: INestApplication;
  readonly runs: Runs;
  readonly url: string;
  readonly rpc: { readonly host: string; readonly port: number };
}

async function start(): Promise<Everything> {
  const module = await Test.createTestingModule(
    here.withCache({
      imports: [
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          autoSchemaFile: true,
          playground: false,
          fieldResolverEnhancers: ['guards', 'interceptors', 'filters'],
        }),
      ],
      controllers: [Handlers],
      providers: [Runs, Resolvers, Gateway, interceptor],
    }),
  )
    .setLogger(here.lines)
    .compile();
  const app = module.createNestApplication();
  here.atEnd(() => app.close());
  app.useWebSocketAdapter(new WsAdapter(app));
  const rpc = { host: '127.0.0.1', port: await freePort() };
  app.connectMicroservice({ transport: Transport.TCP, options: rpc }, { inheritAppConfig: true });
  await app.startAllMicroservices();
  await app.listen(0, '127.0.0.1');
  return { app, rpc, runs: app.get(Runs), url: await app.getUrl() };
}

async function graphql(url: string, query: string): Promise<unknown> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return response.json();
}

/** As a server for subscriptions runs it. */
async function subscribe(app: INestApplication): Promise<unknown[]> {
  const { schema } = app.get(GraphQLSchemaHost, { strict: false });
  const ticks = schema.getSubscriptionType()?.getFields()['ticks'];
  const operation = { operation: 'subscription' };
  const info = { fieldName: 'ticks', parentType: { name: 'Subscription' }, operation };
  const seen: unknown[] = [];
  const stream: unknown = await ticks?.subscribe?.(undefined, {}, { req: { headers: {} } }, info as never);
  for await (const tick of stream as AsyncIterable<unknown>) seen.push(tick);
  return seen;
}

async function askSocket(url: string): Promise<unknown> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'));
  const received: unknown[] = [];
  socket.addEventListener('message', ({ data }) => received.push(JSON.parse(String(data))));
  await until(() => socket.readyState === WebSocket.OPEN, { what: 'the socket to open' });
  socket.send(JSON.stringify({ event: 'ask', data: 7 }));
  await until(() => received.length === 1, { what: 'an answer' });
  socket.close();
  await until(() => socket.readyState === WebSocket.CLOSED, { what: 'the socket to close' });
  return received[0];
}

async function askMicroservice(rpc: Everything['rpc'], runs: Runs, round: number): Promise<unknown> {
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options: rpc });
  try {
    await lastValueFrom(client.emit('event', 1), { defaultValue: undefined });
    await until(() => runs.of('event') === round, { what: 'the event' });
    return await lastValueFrom(client.send<number>('message', 1).pipe(toArray()));
  } finally {
    await client.close();
  }
}

async function readEvents(url: string): Promise<string[]> {
  const text = await (await fetch(`${url}/events`)).text();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data ?? '');
}

describe('FC-081: the interceptor is bound to everything, and nothing is marked', () => {
  it('each transport works as without it, and Redis is asked for nothing', async () => {
    const { app, runs, url, rpc } = await start();
    const prices = Array.from({ length: 50 }, (_, price) => ({ price }));
    const counts = await here.redis.countCommands(async () => {
      for (let round = 1; round <= 2; round++) {
        expect(await (await fetch(`${url}/rest`)).json()).toEqual({ run: round });
        expect(await graphql(url, '{ products { price } }')).toEqual({ data: { products: prices } });
        expect(await graphql(url, 'mutation { buy }')).toEqual({ data: { buy: round } });
        expect(await subscribe(app)).toEqual([{ ticks: 1 }, { ticks: 2 }]);
        expect(await askSocket(url)).toEqual({ event: 'answer', data: [7, round] });
        expect(await askMicroservice(rpc, runs, round)).toEqual([round * 100 + 1]);
        const clients = await Promise.all([readEvents(url), readEvents(url)]);
        expect(clients).toEqual([
          ['one', 'two', 'three'],
          ['one', 'two', 'three'],
        ]);
      }
    });
    expect(counts).toEqual({});
    expect(await here.entries()).toEqual([]);
    expect(['query', 'field', 'subscription', 'sse'].map((name) => runs.of(name))).toEqual([2, 100, 2, 4]);
    expect(here.lines.warnings).toEqual([]);
  });

  it('an application without HTTP starts, works and ends; what is asked of the cache itself does reach Redis', async () => {
    @Module(here.withCache({ providers: [Runs, interceptor] }))
    class Root {}
    const app = await NestFactory.createApplicationContext(Root, { logger: here.lines });
    here.atEnd(() => app.close());
    const counts = await here.redis.countCommands(async () => {
      expect(app.get(Runs).count('any')).toBe(1);
      expect(await app.get(StampedeCacheService).getOrLoad('a', () => 1)).toBe(1);
    });
    expect(counts).toMatchObject({ get: expect.any(Number) as number });
    expect(here.lines.warnings).toEqual([]);
  });
});
