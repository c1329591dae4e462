import {
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Body,
  type INestApplication,
  type Type,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import {
  type ClientProxy,
  ClientProxyFactory,
  Ctx,
  EventPattern,
  MessagePattern,
  Payload,
  RpcException,
  Transport,
} from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import {
  Cached,
  CachedRoute,
  NoCache,
  StampedeCacheInterceptor,
  StampedeCacheModule,
  StampedeCacheService,
} from 'nestjs-stampede-cache';
import { lastValueFrom, type Observable, of, toArray } from 'rxjs';
import supertest from 'supertest';
import { deferred, type Deferred } from '../support/deferred.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';
import { bootError, Lines } from './kit.js';

const Pattern = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToRpc().getContext<{ getPattern(): string }>().getPattern(),
);

class Runs {
  private readonly byName = new Map<string, number>();
  gate: Deferred<void> | undefined;

  count(name: string): number {
    const runs = this.of(name) + 1;
    this.byName.set(name, runs);
    return runs;
  }

  of(name: string): number {
    return this.byName.get(name) ?? 0;
  }
}

@Controller()
class Messages {
  constructor(private readonly runs: Runs) {}

  @MessagePattern({ cmd: 'find' })
  @CachedRoute()
  async find(query: { id: number }): Promise<object> {
    const run = this.runs.count('find');
    await this.runs.gate?.promise;
    return { id: query.id, run };
  }

  @MessagePattern('named')
  @Cached()
  async named(@Payload('id') id: number): Promise<object> {
    return { id, run: this.runs.count('named') };
  }

  @MessagePattern(['one', 'other'])
  @CachedRoute()
  aliased(@Payload() id: number): number {
    return this.runs.count('aliased') * 100 + id;
  }

  @MessagePattern(['red', 'green'])
  @CachedRoute()
  coloured(@Pattern() pattern: string): string {
    return `${pattern} ${this.runs.count('coloured')}`;
  }

  @MessagePattern('keyed')
  @CachedRoute({ http: { key: (context) => context.switchToRpc().getData<{ id: number }>().id } })
  keyed(@Payload() { id }: { id: number }, @Ctx() context: { getPattern(): string }): string {
    return `${context.getPattern()} ${id} ${this.runs.count('keyed')}`;
  }

  @MessagePattern('unmarked')
  unmarked(): number {
    return this.runs.count('unmarked');
  }

  @MessagePattern('one-value')
  @CachedRoute()
  oneValue(id: number): Observable<string> {
    return of(`${id} ${this.runs.count('one-value')}`);
  }

  @MessagePattern('two-values')
  @CachedRoute()
  twoValues(id: number): Observable<string> {
    const run = this.runs.count('two-values');
    return of(`${id} ${run} a`, `${id} ${run} b`);
  }

  @MessagePattern('mixed')
  @CachedRoute()
  mixed(id: number): Observable<string> {
    const run = this.runs.count('mixed');
    return id < 0 ? of(`${run} a`, `${run} b`) : of(`${id} ${run}`);
  }

  @MessagePattern('returned')
  @CachedRoute()
  returned(): unknown {
    return Object.assign(new Error('not thrown'), { run: this.runs.count('returned') });
  }

  @MessagePattern('failing')
  @CachedRoute()
  async failing(): Promise<never> {
    const run = this.runs.count('failing');
    await this.runs.gate?.promise;
    throw new RpcException(`refused ${run}`);
  }

  @EventPattern('sold')
  @CachedRoute()
  sold(_product: { id: number }): void {
    this.runs.count('sold');
  }

  @Get('hybrid')
  @MessagePattern('hybrid')
  @CachedRoute()
  hybrid(@Body('id') id: number | undefined): object {
    return { id: id ?? null, run: this.runs.count('hybrid') };
  }
}

@Controller()
@CachedRoute()
class Marked {
  constructor(private readonly runs: Runs) {}

  @MessagePattern('marked')
  marked(id: number): number {
    return this.runs.count('marked') * 100 + id;
  }
  @MessagePattern('opted-out')
  @NoCache()
  optedOut(): number {
    return this.runs.count('opted-out');
  }
  @EventPattern('seen')
  seen(_id: number): void {
    this.runs.count('seen');
  }
}

interface Service {
  readonly app: INestApplication;
  readonly client: ClientProxy;
  readonly runs: Runs;
  readonly cache: StampedeCacheService;
  readonly lines: Lines;
  readonly send: <T>(pattern: unknown, data?: unknown) => Promise<T>;
}

const interceptor = { provide: APP_INTERCEPTOR, useClass: StampedeCacheInterceptor };
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A real TCP microservice inside an HTTP application, with its client. */
async function start(controllers: Type[] = [Messages, Marked]): Promise<Service> {
  const lines = new Lines();
  const module = await Test.createTestingModule({
    imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s', jitter: 0, earlyRefresh: 0 } })],
    controllers,
    providers: [Runs, interceptor],
  })
    .setLogger(lines)
    .compile();
  const app = module.createNestApplication();
  const options = { host: '127.0.0.1', port: await freePort() };
  app.connectMicroservice({ transport: Transport.TCP, options }, { inheritAppConfig: true });
  await app.startAllMicroservices();
  await app.init();
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  await client.connect();
  closers.push(
    async () => client.close(),
    () => app.close(),
  );
  const send = <T>(pattern: unknown, data: unknown = {}): Promise<T> =>
    lastValueFrom(client.send<T>(pattern, data));
  return { app, client, send, lines, runs: app.get(Runs), cache: app.get(StampedeCacheService) };
}

const errorOf = (reply: Promise<unknown>): Promise<unknown> =>
  reply.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('StampedeCacheInterceptor in a TCP microservice', () => {
  it('answers a message from the cache, by its payload, whatever the order of its properties', async () => {
    const { send, runs } = await start();
    expect(await send({ cmd: 'find' }, { id: 1, page: 2 })).toEqual({ id: 1, run: 1 });
    expect(await send({ cmd: 'find' }, { page: 2, id: 1 })).toEqual({ id: 1, run: 1 });
    expect(await send({ cmd: 'find' }, { id: 1, page: 3 })).toEqual({ id: 1, run: 2 });
    expect(await send({ cmd: 'find' }, { id: '1', page: 2 })).toEqual({ id: '1', run: 3 });
    expect(runs.of('find')).toBe(3);
  });

  it('takes of the payload only what the handler names', async () => {
    const { send, cache } = await start();
    expect(await send('named', { id: 1, page: 2 })).toEqual({ id: 1, run: 1 });
    expect(await send('named', { id: 1, page: 3 })).toEqual({ id: 1, run: 1 });
    expect(await send('named', { id: 2, page: 3 })).toEqual({ id: 2, run: 2 });
    // The wrapper of the method would have counted too.
    expect(cache.stats().outcomes).toMatchObject({ loaded: 2, fresh: 1 });
  });

  it('runs the handler once for 20 messages at a time', async () => {
    const { send, runs, cache } = await start();
    runs.gate = deferred();
    const replies = Array.from({ length: 20 }, () => send({ cmd: 'find' }, { id: 1 }));
    await until(() => cache.stats().active.callers === 20, { what: '20 callers' });
    runs.gate.resolve();
    expect(await Promise.all(replies)).toEqual(Array(20).fill({ id: 1, run: 1 }));
    expect(runs.of('find')).toBe(1);
  });

  it('gives all of them one error, and stores none', async () => {
    const { send, runs, cache } = await start();
    runs.gate = deferred();
    const replies = Array.from({ length: 20 }, () => errorOf(send('failing')));
    await until(() => cache.stats().active.callers === 20, { what: '20 callers' });
    runs.gate.resolve();
    expect(await Promise.all(replies)).toEqual(Array(20).fill({ status: 'error', message: 'refused 1' }));
    runs.gate = undefined;
    expect(await errorOf(send('failing'))).toEqual({ status: 'error', message: 'refused 2' });
  });

  it('answers several patterns of one handler alike, unless a decorator of its own tells them apart', async () => {
    const { send } = await start();
    expect([await send('one', 1), await send('other', 1)]).toEqual([101, 101]);
    expect([await send('red'), await send('green'), await send('red')]).toEqual([
      'red 1',
      'green 2',
      'red 1',
    ]);
  });

  it('takes a handler with @Ctx() by its key', async () => {
    const { send } = await start();
    expect(await send('keyed', { id: 1, at: 5 })).toBe('keyed 1 1');
    expect(await send('keyed', { id: 1, at: 6 })).toBe('keyed 1 1');
    expect(await send('keyed', { id: 2, at: 6 })).toBe('keyed 2 2');
  });

  it('refuses @Ctx() without a key at the start', async () => {
    @Controller()
    class Unkeyed {
      @MessagePattern('unkeyed')
      @CachedRoute()
      find(@Ctx() _context: object): number {
        return 1;
      }
    }
    const error = await bootError({
      imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' } })],
      controllers: [Unkeyed],
      providers: [interceptor],
    });
    expect(error.message).toMatch(/Unkeyed\.find: the handler takes @Ctx\(\), .* Give http\.key/);
  });

  it('runs an unmarked handler each time', async () => {
    const { send } = await start();
    expect([await send('unmarked'), await send('unmarked')]).toEqual([1, 2]);
  });

  it('caches an Observable of one value', async () => {
    const { send } = await start();
    expect([await send('one-value', 1), await send('one-value', 1), await send('one-value', 2)]).toEqual([
      '1 1',
      '1 1',
      '2 2',
    ]);
  });

  it('passes an Observable of several values through whole, each time', async () => {
    const { client, runs, lines } = await start();
    for (let run = 1; run <= 2; run++) {
      const values = await lastValueFrom(client.send<string>('two-values', 7).pipe(toArray()));
      expect(values).toEqual([`7 ${run} a`, `7 ${run} b`]);
    }
    expect(runs.of('two-values')).toBe(2);
    expect(lines.ofCache('warn').filter((line) => line.includes('twoValues'))).toHaveLength(1);
  });

  it('caches the other messages of a handler that now and then answers with several values', async () => {
    const { client, send } = await start();
    const texts: string[] = [];
    for (const id of [-1, -1, 1, 1, -1, -1, 1]) {
      texts.push((await lastValueFrom(client.send<string>('mixed', id).pipe(toArray()))).join());
    }
    expect(texts).toEqual(['1 a,1 b', '2 a,2 b', '1 3', '1 3', '4 a,4 b', '5 a,5 b', '1 3']);
    for (const run of [6, 7, 8]) expect(await send('mixed', -1)).toBe(`${run} b`);
    // Three in a row.
    expect([await send('mixed', 1), await send('mixed', 1)]).toEqual(['1 9', '1 10']);
  });

  it('keeps no error that a handler returns', async () => {
    const { send, cache } = await start();
    expect([await send('returned'), await send('returned')]).toEqual([{ run: 1 }, { run: 2 }]);
    expect(cache.stats().outcomes).toMatchObject({ loaded: 2, fresh: 0 });
  });

  it('runs the handler of each event, and says at the start that a mark on it has no effect', async () => {
    const { client, runs, lines } = await start();
    for (let i = 0; i < 3; i++)
      await lastValueFrom(client.emit('sold', { id: 1 }), { defaultValue: undefined });
    await until(() => runs.of('sold') === 3, { what: 'three events' });
    expect(lines.ofCache('warn').filter((line) => line.includes('Messages.sold'))).toEqual([
      expect.stringMatching(/Messages\.sold: an event handler/),
    ]);
  });

  it('takes a mark on the controller for its messages, not for its events', async () => {
    const { client, send, runs, lines } = await start();
    expect([await send('marked', 1), await send('marked', 1), await send('marked', 2)]).toEqual([
      101, 101, 202,
    ]);
    expect([await send('opted-out'), await send('opted-out')]).toEqual([1, 2]);
    for (let i = 0; i < 2; i++) await lastValueFrom(client.emit('seen', 1), { defaultValue: undefined });
    await until(() => runs.of('seen') === 2, { what: 'two events' });
    expect(lines.ofCache('warn').filter((line) => line.includes('Marked'))).toEqual([]);
  });

  it('keeps HTTP and RPC apart where one handler answers both', async () => {
    const { app, send, runs } = await start();
    expect(await send('hybrid', {})).toEqual({ id: null, run: 1 });
    const http = supertest(app.getHttpServer() as never);
    for (let i = 0; i < 2; i++) expect((await http.get('/hybrid')).body).toEqual({ id: null, run: 2 });
    expect(await send('hybrid', {})).toEqual({ id: null, run: 1 });
    expect(runs.of('hybrid')).toBe(2);
  });
});
