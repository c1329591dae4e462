import {
  Controller,
  Get,
  Header,
  HttpCode,
  Injectable,
  Redirect,
  Res,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { CachedRoute, StampedeCacheInterceptor } from 'nestjs-stampede-cache';
import { deferred } from '../../support/deferred.js';
import { EVERYWHERE, host, isHit, PLATFORMS, shared, type Reply } from './kit.js';

/** Sets a header the way an inner interceptor does. */
@Injectable()
class Stamp implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    context.switchToHttp().getResponse<Reply>().header('x-inner', 'yes');
    return next.handle();
  }
}

let runs = 0;
beforeEach(() => {
  runs = 0;
});

@Controller()
@CachedRoute()
class Heads {
  @Get('decorated')
  @HttpCode(203)
  @Header('x-made-by', 'decorator')
  decorated() {
    return { run: (runs += 1) };
  }

  @Get('passthrough')
  passthrough(@Res({ passthrough: true }) response: Reply) {
    response
      .status(202)
      .header('x-made-by', 'hand')
      .header('content-type', 'application/vnd.shop+json; charset=utf-8')
      .header('link', ['</a>; rel=next', '</b>; rel=prev']);
    return { run: (runs += 1) };
  }

  @Get('text')
  text() {
    return `run ${(runs += 1)}`;
  }

  @Get('nothing')
  nothing() {
    runs += 1;
  }

  @Get('null')
  none() {
    runs += 1;
    return null;
  }

  @Get('redirect')
  @Redirect('/text', 301)
  redirect() {
    runs += 1;
  }

  @Get('cookie')
  cookie(@Res({ passthrough: true }) response: Reply) {
    runs += 1;
    response.header('set-cookie', `sid=${runs}`);
    return { run: runs };
  }

  @Get('missing')
  @HttpCode(404)
  missing() {
    return { run: (runs += 1) };
  }

  @Get('listed')
  @HttpCode(404)
  @CachedRoute({ http: { statuses: [404] } })
  listed() {
    return { run: (runs += 1) };
  }
}

describe.each(PLATFORMS)('The status and the headers of a cached response on %s', (platform) => {
  const { serve } = host(platform);
  const start = () => serve({ controllers: [Heads], providers: [EVERYWHERE] });

  it.each([
    ['decorated', 203, { 'x-made-by': 'decorator' }],
    ['passthrough', 202, { 'x-made-by': 'hand', 'content-type': 'application/vnd.shop+json; charset=utf-8' }],
    ['text', 200, { 'content-type': expect.stringMatching(/^text\//) }],
    ['nothing', 200, {}],
    ['null', 200, {}],
  ])('are those of the first, for /%s', async (path, status, headers) => {
    const site = await start();
    const [first, second, third] = [
      await site.get(`/${path}`),
      await site.get(`/${path}`),
      await site.get(`/${path}`),
    ];
    expect(first).toMatchObject({ status, headers });
    expect([isHit(second), isHit(third)]).toEqual([true, true]);
    expect([shared(second), shared(third)]).toEqual([shared(first), shared(first)]);
    expect(runs).toBe(1);
  });

  it('keep all values of a header', async () => {
    const site = await start();
    const links = [
      (await site.get('/passthrough')).headers.link,
      (await site.get('/passthrough')).headers.link,
    ];
    expect(links).toEqual(Array(2).fill('</a>; rel=next, </b>; rel=prev'));
  });

  it('include what interceptors inside the cache set', async () => {
    @Controller('inner')
    @UseInterceptors(StampedeCacheInterceptor, Stamp)
    class Inner {
      @Get()
      @CachedRoute()
      find() {
        return (runs += 1);
      }
    }
    const site = await serve({ controllers: [Inner] });
    const answers = [await site.get('/inner'), await site.get('/inner')];
    expect(answers.map(({ text, headers }) => [text, headers['x-inner']])).toEqual(
      Array(2).fill(['1', 'yes']),
    );
  });

  it('redirect as ever', async () => {
    const site = await start();
    for (let i = 0; i < 2; i++) {
      expect(await site.get('/redirect')).toMatchObject({ status: 301, headers: { location: '/text' } });
    }
  });

  it('never hold a cookie for another client: not in turn, not together', async () => {
    const site = await start();
    const inTurn = [await site.get('/cookie'), await site.get('/cookie')];
    expect(inTurn[0]?.headers['set-cookie']).toEqual(['sid=1']);
    expect(inTurn[1]?.headers['set-cookie'] ?? ['sid=2']).toEqual(['sid=2']);
  });

  it('and a handler that sets one is told of once', async () => {
    const site = await start();
    await site.get('/cookie');
    await site.cache.clear();
    await site.get('/cookie');
    expect(site.stored).toBe(2);
    expect(site.warnings(/cookie/)).toEqual([expect.stringMatching(/\.cookie: .*@NoCache\(\)/)]);
  });

  it('and among coalesced clients each cookie goes to one', async () => {
    const gate = deferred();
    @Controller('slow')
    class Slow {
      @Get()
      @CachedRoute()
      async find(@Res({ passthrough: true }) response: Reply) {
        const run = (runs += 1);
        await gate.promise;
        response.header('set-cookie', `sid=${run}`);
        return { run };
      }
    }
    const site = await serve({ controllers: [Slow], providers: [EVERYWHERE] });
    const all = Array.from({ length: 10 }, () => site.get('/slow'));
    await site.waiting(10);
    gate.resolve();
    const answers = await Promise.all(all);
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const cookies = answers.flatMap(({ headers }) => headers['set-cookie'] ?? []);
    expect(new Set(cookies).size).toBe(cookies.length);
    expect(cookies).toHaveLength(runs);
    // A body that was made for a session goes with its cookie.
    const withCookie = answers.filter(({ headers }) => headers['set-cookie'] !== undefined);
    for (const { text, headers } of withCookie) {
      expect(headers['set-cookie']).toEqual([`sid=${/\d+/.exec(text)?.[0]}`]);
    }
  });

  it('are not stored with a status that is none of http.statuses', async () => {
    const site = await start();
    const statuses: unknown[] = [];
    for (const path of ['/missing', '/missing', '/listed', '/listed']) {
      const { status, text } = await site.get(path);
      statuses.push([status, text]);
    }
    expect(statuses).toEqual([
      [404, '{"run":1}'],
      [404, '{"run":2}'],
      [404, '{"run":3}'],
      [404, '{"run":3}'],
    ]);
  });

  it('are sent to HEAD without the body; the next GET has it, in either order', async () => {
    for (const order of [
      ['HEAD', 'GET'],
      ['GET', 'HEAD'],
    ]) {
      runs = 0;
      const site = await start();
      const answers = new Map<string, Awaited<ReturnType<typeof site.get>>>();
      for (const method of order) answers.set(method, await site.ask('/decorated', { method }));
      const [head, get] = [answers.get('HEAD'), answers.get('GET')];
      expect(get).toMatchObject({ status: 203, headers: { 'x-made-by': 'decorator' } });
      expect(get?.text).toMatch(/^\{"run":[12]\}$/);
      expect(head).toMatchObject({ status: 203, text: '', headers: { 'x-made-by': 'decorator' } });
      expect(head?.headers['content-type']).toBe(get?.headers['content-type']);
    }
  });
});
