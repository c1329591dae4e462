import type { ServerResponse } from 'node:http';
import { Controller, Get, Res } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, isHit, PLATFORMS, type Reply } from './kit.js';

interface Appending extends Reply {
  readonly raw?: ServerResponse;
  getHeader(name: string): unknown;
}

/** Adds to a header that may be there, as frameworks and libraries do. */
function add(response: Appending, name: string, value: string): void {
  const there = response.getHeader(name);
  response.header(name, there === undefined ? value : `${String(there as string)}, ${value}`);
}

@Controller()
@CachedRoute()
class Pages {
  @Get('timed')
  timed(@Res({ passthrough: true }) response: Appending) {
    add(response, 'server-timing', 'handler;dur=5');
    add(response, 'link', '</style.css>; rel=preload');
    add(response, 'x-only-here', 'mine');
    const policy = String(response.getHeader('content-security-policy') as string);
    response.header('content-security-policy', `${policy}; img-src cdn`);
    return { page: 1 };
  }

  @Get('same')
  same(@Res({ passthrough: true }) response: Appending) {
    response.header('server-timing', String(response.getHeader('server-timing') as string));
    return { page: 2 };
  }

  @Get('replaced')
  replaced(@Res({ passthrough: true }) response: Appending) {
    response.header('server-timing', 'handler;dur=5');
    return { page: 3 };
  }
}

describe.each(PLATFORMS)('A header that a handler adds to, on %s', (platform) => {
  const { serve } = host(platform);
  let requests = 0;
  const start = () => {
    requests = 0;
    return serve({
      controllers: [Pages],
      providers: [EVERYWHERE],
      prepare: (app) =>
        app.use((_request: unknown, response: ServerResponse, next: () => void) => {
          requests += 1;
          response.setHeader('server-timing', `middleware;desc=${requests}`);
          response.setHeader('content-security-policy', `script-src nonce-${requests}`);
          next();
        }),
    });
  };

  it('keeps what each request had there: only the addition is shared', async () => {
    const site = await start();
    const answers = [await site.get('/timed'), await site.get('/timed'), await site.get('/timed')];
    expect(answers.map(isHit)).toEqual([false, true, true]);
    answers.forEach(({ headers }, i) => {
      expect(headers['server-timing']).toBe(`middleware;desc=${i + 1}, handler;dur=5`);
      expect(headers['link']).toBe('</style.css>; rel=preload');
      expect(headers['x-only-here']).toBe('mine');
      expect(headers['content-security-policy']).toBe(`script-src nonce-${i + 1}; img-src cdn`);
    });
  });

  it('is each request’s own where the handler set what was there', async () => {
    const site = await start();
    const answers = [await site.get('/same'), await site.get('/same')];
    expect(answers.map(isHit)).toEqual([false, true]);
    expect(answers.map(({ headers }) => headers['server-timing'])).toEqual([
      'middleware;desc=1',
      'middleware;desc=2',
    ]);
  });

  it('is the handler’s where it replaced what was there', async () => {
    const site = await start();
    const answers = [await site.get('/replaced'), await site.get('/replaced')];
    expect(answers.map(isHit)).toEqual([false, true]);
    expect(answers.map(({ headers }) => headers['server-timing'])).toEqual([
      'handler;dur=5',
      'handler;dur=5',
    ]);
  });
});
