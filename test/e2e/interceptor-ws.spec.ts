import { type INestApplication, Injectable, type Type, UseInterceptors } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import { Test } from '@nestjs/testing';
import { Ack, ConnectedSocket, MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  CachedRoute,
  StampedeCacheInterceptor,
  StampedeCacheModule,
  StampedeCacheService,
} from 'nestjs-stampede-cache';
import { of, type Observable } from 'rxjs';
import { WebSocket } from 'undici';
import { deferred, type Deferred } from '../support/deferred.js';
import { until } from '../support/until.js';
import { bootError, Lines } from './kit.js';

@Injectable()
class Runs {
  private readonly byName = new Map<string, number>();
  gate: Deferred<void> | undefined;

  count(name: string): number {
    const runs = (this.byName.get(name) ?? 0) + 1;
    this.byName.set(name, runs);
    return runs;
  }
}

interface Query {
  readonly id: number;
}

/** Bound here and not as `APP_INTERCEPTOR`: what is global reaches gateways from NestJS 12 on. */
@WebSocketGateway()
@UseInterceptors(StampedeCacheInterceptor)
class Gateway {
  constructor(private readonly runs: Runs) {}

  @SubscribeMessage('find')
  @CachedRoute()
  async find(@MessageBody() query: Query): Promise<object> {
    const run = this.runs.count('find');
    await this.runs.gate?.promise;
    return { event: 'found', data: { ...query, run } };
  }

  @SubscribeMessage('named')
  @CachedRoute()
  named(@MessageBody('id') id: number): object {
    return { event: 'named', data: { id, run: this.runs.count('named') } };
  }

  @SubscribeMessage('keyed')
  @CachedRoute({ http: { key: (context) => context.switchToWs().getData<Query>().id } })
  keyed(_client: object, { id }: Query): object {
    return { event: 'keyed', data: { id, run: this.runs.count('keyed') } };
  }

  @SubscribeMessage('two')
  @CachedRoute()
  two(@MessageBody() { id }: Query): Observable<object> {
    const run = this.runs.count('two');
    return of({ event: 'two', data: [id, run, 'a'] }, { event: 'two', data: [id, run, 'b'] });
  }

  @SubscribeMessage('unmarked')
  unmarked(): object {
    return { event: 'unmarked', data: this.runs.count('unmarked') };
  }
}

@WebSocketGateway()
@UseInterceptors(StampedeCacheInterceptor)
@CachedRoute()
class MarkedGateway {
  constructor(private readonly runs: Runs) {}

  @SubscribeMessage('of-marked')
  ofMarked(_client: object, _data: object): object {
    return { event: 'of-marked', data: this.runs.count('of-marked') };
  }
}

const root = () => StampedeCacheModule.forRoot({ policy: { ttl: '60s', jitter: 0, earlyRefresh: 0 } });

/** A client that keeps what it is sent. */
class Client {
  readonly received: unknown[] = [];

  private constructor(private readonly socket: WebSocket) {
    socket.addEventListener('message', ({ data }) => {
      this.received.push(JSON.parse(String(data)) as unknown);
    });
  }

  static async open(url: string): Promise<Client> {
    const socket = new WebSocket(url);
    const client = new Client(socket);
    await until(() => socket.readyState === WebSocket.OPEN, { what: 'the socket to open' });
    return client;
  }

  send(event: string, data: unknown): void {
    this.socket.send(JSON.stringify({ event, data }));
  }

  /** The next `count` messages that come for one that is sent. */
  async ask(event: string, data: unknown = {}, count = 1): Promise<unknown[]> {
    const from = this.received.length;
    this.send(event, data);
    await until(() => this.received.length >= from + count, { what: `${count} answers to ${event}` });
    return this.received.slice(from);
  }

  async close(): Promise<void> {
    this.socket.close();
    await until(() => this.socket.readyState === WebSocket.CLOSED, { what: 'the socket to close' });
  }
}

let app: INestApplication | undefined;
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await app?.close();
  app = undefined;
});

async function start(gateways: Type[] = [Gateway, MarkedGateway]) {
  const lines = new Lines();
  const module = await Test.createTestingModule({
    imports: [root()],
    providers: [Runs, ...gateways],
  })
    .setLogger(lines)
    .compile();
  app = module.createNestApplication();
  app.useWebSocketAdapter(new WsAdapter(app));
  await app.listen(0, '127.0.0.1');
  const url = (await app.getUrl()).replace(/^http/, 'ws');
  const connect = async (): Promise<Client> => {
    const client = await Client.open(url);
    clients.push(client);
    return client;
  };
  return { connect, lines, runs: app.get(Runs), cache: app.get(StampedeCacheService) };
}

describe('StampedeCacheInterceptor in a WebSocket gateway', () => {
  it('answers a message of a marked handler from the cache, by its body, whoever sends it', async () => {
    const { connect } = await start();
    const [a, b] = [await connect(), await connect()];
    expect(await a.ask('find', { id: 1, page: 2 })).toEqual([
      { event: 'found', data: { id: 1, page: 2, run: 1 } },
    ]);
    expect(await b.ask('find', { page: 2, id: 1 })).toEqual([
      { event: 'found', data: { id: 1, page: 2, run: 1 } },
    ]);
    expect(await b.ask('find', { id: 2, page: 2 })).toEqual([
      { event: 'found', data: { id: 2, page: 2, run: 2 } },
    ]);
  });

  it('takes of the body only what the handler names', async () => {
    const client = await (await start()).connect();
    const answer = { event: 'named', data: { id: 1, run: 1 } };
    expect(await client.ask('named', { id: 1, at: 5 })).toEqual([answer]);
    expect(await client.ask('named', { id: 1, at: 6 })).toEqual([answer]);
  });

  it('runs the handler once for many messages at a time', async () => {
    const { connect, runs, cache } = await start();
    runs.gate = deferred();
    const [a, b] = [await connect(), await connect()];
    for (let i = 0; i < 10; i++) for (const client of [a, b]) client.send('find', { id: 1 });
    await until(() => cache.stats().active.callers === 20, { what: '20 callers' });
    runs.gate.resolve();
    await until(() => a.received.length + b.received.length === 20, { what: '20 answers' });
    expect([...a.received, ...b.received]).toEqual(
      Array(20).fill({ event: 'found', data: { id: 1, run: 1 } }),
    );
  });

  it('takes a handler with the socket by its key', async () => {
    const client = await (await start()).connect();
    const answer = { event: 'keyed', data: { id: 1, run: 1 } };
    expect(await client.ask('keyed', { id: 1, at: 5 })).toEqual([answer]);
    expect(await client.ask('keyed', { id: 1, at: 6 })).toEqual([answer]);
  });

  it('passes an Observable of several values through whole, each time', async () => {
    const client = await (await start()).connect();
    for (let run = 1; run <= 2; run++) {
      expect(await client.ask('two', { id: 7 }, 2)).toEqual([
        { event: 'two', data: [7, run, 'a'] },
        { event: 'two', data: [7, run, 'b'] },
      ]);
    }
  });

  it('runs an unmarked handler each time, and one of a marked class, silently', async () => {
    const { connect, lines } = await start();
    const client = await connect();
    for (let run = 1; run <= 2; run++) {
      expect(await client.ask('unmarked')).toEqual([{ event: 'unmarked', data: run }]);
      expect(await client.ask('of-marked')).toEqual([{ event: 'of-marked', data: run }]);
    }
    expect(lines.ofCache('warn').filter((line) => line.includes('MarkedGateway'))).toEqual([]);
  });

  it('refuses a handler that takes the socket or acknowledges by itself', async () => {
    @WebSocketGateway()
    @UseInterceptors(StampedeCacheInterceptor)
    class Unkeyed {
      @SubscribeMessage('socket')
      @CachedRoute()
      socket(@ConnectedSocket() _client: object): number {
        return 1;
      }
      @SubscribeMessage('ack')
      @CachedRoute({ http: { key: () => 1 } })
      ack(@Ack() acknowledge: (answer: number) => void): void {
        acknowledge(1);
      }
    }
    const { message } = await bootError({ imports: [root()], providers: [Unkeyed] });
    expect(message).toMatch(/Unkeyed\.socket: the handler takes @ConnectedSocket\(\), .* Give http\.key/);
    expect(message).toMatch(/Unkeyed\.ack: the handler takes @Ack\(\) and answers by calling it/);
  });
});
