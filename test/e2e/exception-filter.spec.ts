import { request as httpRequest } from 'node:http';
import {
  BadRequestException,
  Controller,
  Get,
  HttpException,
  type INestApplication,
  Injectable,
  type MiddlewareConsumer,
  Param,
  Res,
  type Provider,
  type Type,
  UseFilters,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import * as ours from 'nestjs-stampede-cache';
import { Lines } from './kit.js';

const {
  CacheUnavailableError,
  ConfigurationError,
  LoadRejectedError,
  LoadTimeoutError,
  RemoteLoadError,
  StampedeCacheExceptionFilter,
  WaitTimeoutError,
} = ours;

const SECRET = 'Shop.find(alice@example.com) at redis://app:hunter2@10.0.0.7:6379';

/** What handlers throw, by the path they are asked with. */
const ERRORS: Readonly<Record<string, () => unknown>> = {
  loadTimeout: () => new LoadTimeoutError(SECRET, 30_000),
  waitTimeout: () => new WaitTimeoutError(SECRET, 1_001),
  rejected: () => new LoadRejectedError(SECRET, 250),
  unavailable: () => new CacheUnavailableError(SECRET, 1_000, { cause: new Error(SECRET) }),
  odd: () => new LoadRejectedError(SECRET, Number.NaN),
  badRequest: () => new BadRequestException(['id must be a number']),
  teapot: () => new HttpException({ any: 'body' }, 418),
  plain: () => new Error(SECRET),
  text: () => 'text',
  nothing: () => undefined,
  httpError: () => Object.assign(new Error('gone'), { status: 410, statusCode: 410, expose: true }),
  other503: () =>
    Object.assign(new Error('db'), { status: 503, statusCode: 503, expose: true, retryAfter: 5 }),
  configuration: () => new ConfigurationError('wrong'),
  remote: () => new RemoteLoadError('there', 'TypeError', undefined),
};
const OTHERS = [
  'badRequest',
  'teapot',
  'plain',
  'text',
  'nothing',
  'httpError',
  'other503',
  'configuration',
  'remote',
];

const fail = (what: string): never => {
  throw ERRORS[what]?.();
};

@Injectable()
class Failing {
  async fail(what: string): Promise<never> {
    return fail(what);
  }
}

@Controller()
class Plain {
  constructor(private readonly failing: Failing) {}
  @Get('fail/:what')
  async any(@Param('what') what: string): Promise<never> {
    return this.failing.fail(what);
  }
}

@Controller()
@UseFilters(StampedeCacheExceptionFilter)
class Filtered extends Plain {}

const SETUPS: Readonly<
  Record<string, { controller: Type; providers?: Provider[]; prepare?: (app: INestApplication) => void }>
> = {
  useGlobalFilters: {
    controller: Plain,
    prepare: (app) => app.useGlobalFilters(new StampedeCacheExceptionFilter()),
  },
  APP_FILTER: {
    controller: Plain,
    providers: [{ provide: APP_FILTER, useClass: StampedeCacheExceptionFilter }],
  },
  '@UseFilters': { controller: Filtered },
};

describe.each(['express', 'fastify'] as const)('StampedeCacheExceptionFilter on %s', (platform) => {
  const open: INestApplication[] = [];
  afterEach(async () => {
    for (const app of open.splice(0)) await app.close();
  });

  async function serve(
    { controller, providers = [], prepare }: (typeof SETUPS)[string],
    lines?: Lines,
    middleware?: (request: unknown, response: unknown, next: (error?: unknown) => void) => void,
  ) {
    class Root {
      configure(consumer: MiddlewareConsumer): void {
        if (middleware) consumer.apply(middleware).forRoutes(controller);
      }
    }
    const root = { module: Root, controllers: [controller], providers: [Failing, ...providers] };
    const builder = Test.createTestingModule({ imports: [root] });
    // Not `logger: false`: that would hold for the whole process.
    builder.setLogger(lines ?? new Lines());
    const module = await builder.compile();
    const app: INestApplication =
      platform === 'fastify'
        ? module.createNestApplication(new FastifyAdapter() as never)
        : module.createNestApplication();
    open.push(app);
    prepare?.(app);
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    return async (path: string, method = 'GET') => {
      const response = await fetch(`${url}/${path}`, { method });
      const { status, headers } = response;
      return {
        status,
        type: headers.get('content-type'),
        retryAfter: headers.get('retry-after'),
        body: await response.text(),
      };
    };
  }

  it.each(Object.entries(SETUPS))('answers the four errors with 503, bound by %s', async (_, setup) => {
    const get = await serve(setup);
    const seconds = { loadTimeout: '30', waitTimeout: '2', rejected: '1', unavailable: '1', odd: '1' };
    for (const [what, retryAfter] of Object.entries(seconds)) {
      const { body, ...answer } = await get(`fail/${what}`);
      expect(answer).toEqual({
        status: 503,
        retryAfter,
        type: expect.stringMatching(/^application\/json; ?charset=utf-8$/) as string,
      });
      expect(JSON.parse(body)).toEqual({
        statusCode: 503,
        message: expect.stringMatching(/Try again later\.$/) as string,
        error: 'Service Unavailable',
      });
      // Nothing of the message, which names methods and servers.
      expect(body).not.toMatch(/hunter2|alice|Shop|10\.0/);
    }
    expect(await get('fail/rejected', 'HEAD')).toMatchObject({ status: 503, retryAfter: '1', body: '' });
  });

  it.each(Object.entries(SETUPS))('leaves every other answer as it was, bound by %s', async (_, setup) => {
    const [lines, plainLines] = [new Lines(), new Lines()];
    const answers = [];
    const get = await serve(setup, lines);
    for (const what of OTHERS) answers.push(await get(`fail/${what}`));
    answers.push(await get('nowhere'));
    await open.pop()?.close();
    const plain = await serve({ controller: Plain }, plainLines);
    const expected = [];
    for (const what of OTHERS) expected.push(await plain(`fail/${what}`));
    expected.push(await plain('nowhere'));
    expect(answers).toEqual(expected);
    const errors = ({ all }: Lines) =>
      all.filter(({ level }) => level === 'error').map(({ message }) => message);
    expect(errors(lines)).toEqual(errors(plainLines));
  });

  it('writes one line for many requests, without a stack', async () => {
    const lines = new Lines();
    const get = await serve(SETUPS['APP_FILTER']!, lines);
    await Promise.all(Array.from({ length: 50 }, () => get('fail/rejected')));
    await get('fail/loadTimeout');
    expect(lines.all.filter(({ level }) => level !== 'log')).toEqual([
      { level: 'warn', context: 'StampedeCache', message: `Answered with LOAD_REJECTED: ${SECRET}` },
      { level: 'warn', context: 'StampedeCache', message: `Answered with LOAD_TIMEOUT: ${SECRET}` },
    ]);
  });

  it('knows the errors of another copy of the package', async () => {
    let copy!: typeof ours;
    await jest.isolateModulesAsync(async () => {
      copy = await import('nestjs-stampede-cache');
      // It brings its own Logger, which no test module silences.
      (await import('@nestjs/common')).Logger.overrideLogger(false);
    });
    expect(copy.LoadRejectedError).not.toBe(LoadRejectedError);
    const get = await serve({
      controller: Plain,
      prepare: (app) => app.useGlobalFilters(new copy.StampedeCacheExceptionFilter()),
    });
    expect(await get('fail/rejected')).toMatchObject({ status: 503, retryAfter: '1' });
    expect((await get('fail/plain')).status).toBe(500);
  });

  it('answers what middleware passes on', async () => {
    const get = await serve(SETUPS['useGlobalFilters']!, undefined, (_request, _response, next) =>
      next(new LoadRejectedError(SECRET, 2_000)),
    );
    const { body, ...answer } = await get('fail/plain');
    expect(answer).toMatchObject({ status: 503, retryAfter: '2' });
    expect(JSON.parse(body)).toMatchObject({ statusCode: 503, error: 'Service Unavailable' });
    expect(body).not.toContain('hunter2');
  });

  it('ends a response that has begun', async () => {
    @Controller()
    class Streaming {
      @Get('stream')
      async stream(@Res() response: { raw?: NodeJS.WritableStream } & NodeJS.WritableStream): Promise<never> {
        (response.raw ?? response).write('begun');
        return fail('rejected');
      }
    }
    await serve({ ...SETUPS['useGlobalFilters']!, controller: Streaming });
    const url = await open.at(-1)!.getUrl();
    const body = await new Promise<string>((resolve, reject) => {
      httpRequest(`${url}/stream`, (response) => {
        let text = '';
        response.on('data', (bytes: Buffer) => (text += bytes.toString()));
        response.on('end', () => resolve(text));
      })
        .on('error', reject)
        .end();
    });
    expect(body).toBe('begun');
  });
});
