import { Readable } from 'node:stream';
import { Controller, Get, Render, Res, Sse, StreamableFile } from '@nestjs/common';
import { concat, NEVER, of, type Observable } from 'rxjs';
import { CachedRoute } from 'nestjs-stampede-cache';
import { until } from '../../support/until.js';
import { EVERYWHERE, host, isHit, PLATFORMS, type Platform, type Reply, type Site } from './kit.js';

let runs = 0;
beforeEach(() => {
  runs = 0;
});

@Controller()
@CachedRoute()
class Streams {
  @Get('file')
  file() {
    runs += 1;
    return new StreamableFile(Buffer.from('a file'), { type: 'text/plain', disposition: 'attachment' });
  }
  @Get('file-of-stream')
  fileOfStream() {
    runs += 1;
    return new StreamableFile(Readable.from([Buffer.from('a '), Buffer.from('file')]));
  }
  @Get('pushed')
  pushed() {
    runs += 1;
    // Begins to flow in the handler's own async context.
    const stream = new Readable({ read: () => undefined });
    stream.push(Buffer.from('a file'));
    stream.push(null);
    return new StreamableFile(stream);
  }
  @Get('buffer')
  buffer(@Res({ passthrough: true }) response: Reply) {
    response.header('content-type', 'application/octet-stream');
    return Buffer.from([0, 1, 2, 0xff, 0xfe, 0x80]);
  }
  @Sse('sse')
  sse(): Observable<{ data: string }> {
    runs += 1;
    return of({ data: 'one' }, { data: 'two' });
  }
  @Get('several')
  several() {
    runs += 1;
    return of('one', 'two', 'three');
  }
  @Get('by-hand')
  byHand(@Res() response: Reply) {
    runs += 1;
    response.status(202).header('x-by', 'hand').send({ by: 'hand' });
  }
  @Get('redirect')
  redirect(@Res() response: Reply) {
    runs += 1;
    response.status(302).redirect('/elsewhere');
  }
  @Get('rendered')
  @Render('page')
  rendered() {
    runs += 1;
    return { title: 'hello' };
  }
}

/** The same without marks. */
@Controller('bare')
class Bare {
  @Get('buffer')
  buffer(@Res({ passthrough: true }) response: Reply) {
    return new Streams().buffer(response);
  }
  @Get('file')
  file() {
    return new Streams().file();
  }
  @Get('pushed')
  pushed() {
    return new Streams().pushed();
  }
  @Get('file-of-stream')
  fileOfStream() {
    return new Streams().fileOfStream();
  }
  @Sse('sse')
  sse() {
    return new Streams().sse();
  }
  @Get('several')
  several() {
    return new Streams().several();
  }
  @Get('by-hand')
  byHand(@Res() response: Reply) {
    new Streams().byHand(response);
  }
  @Get('redirect')
  redirect(@Res() response: Reply) {
    new Streams().redirect(response);
  }
  @Get('rendered')
  @Render('page')
  rendered() {
    return new Streams().rendered();
  }
}

interface Expressly {
  readonly response: { render: unknown };
}
interface Fastly {
  decorateReply(name: string, view: unknown): void;
}

/** A view engine of one line, as the adapters call it. */
function withViews(platform: Platform): (app: Site['app']) => void {
  return (app) => {
    const instance: unknown = app.getHttpAdapter().getInstance();
    const view = function (this: Reply, name: string, data: object) {
      const { title } = data as { title: string };
      return this.header('content-type', 'text/html').send(`<h1>${name}: ${title}</h1>`);
    };
    // The instances of the two frameworks.
    if (platform === 'express') (instance as Expressly).response.render = view;
    else (instance as Fastly).decorateReply('view', view);
  };
}

describe.each(PLATFORMS)('What can not be cached is served as without the module on %s', (platform) => {
  const { serve } = host(platform);
  const prepare = withViews(platform);

  it.each([
    ['file', 200],
    ['file-of-stream', 200],
    ['pushed', 200],
    ['sse', 200],
    ['several', 200],
    ['by-hand', 202],
    ['redirect', 302],
    ['rendered', 200],
  ])('/%s: in turn and 5 at once, with at most one warning', async (path, status) => {
    const site = await serve({ controllers: [Streams, Bare], providers: [EVERYWHERE], prepare });
    const expected = await site.get(`/bare/${path}`);
    const { date: _date, ...headers } = expected.headers;
    runs = 0;
    const inTurn = [await site.get(`/${path}`), await site.get(`/${path}`)];
    const together = await Promise.all(Array.from({ length: 5 }, () => site.get(`/${path}`)));
    for (const answer of [...inTurn, ...together]) {
      expect([answer.status, answer.text]).toEqual([status, expected.text]);
      expect(answer.headers).toMatchObject(headers);
      expect(isHit(answer)).toBe(false);
    }
    expect(runs).toBe(7);
    expect(site.stored).toBe(0);
    expect(
      site.warnings(/Streams\./).filter((line) => line.includes(camel(path))).length,
    ).toBeLessThanOrEqual(1);
  });

  it.each([
    ['file', 'Streams.file'],
    ['several', 'Streams.several'],
    ['by-hand', 'Streams.byHand'],
  ])('/%s: one warning says why', async (path, where) => {
    const site = await serve({ controllers: [Streams], providers: [EVERYWHERE], prepare });
    for (let i = 0; i < 3; i++) await site.get(`/${path}`);
    expect(site.warnings(new RegExp(`${where.replace('.', '\\.')}\\b`))).toHaveLength(1);
  });

  it('an Observable that goes on and on: each request has its own, until its client leaves', async () => {
    let subscribed = 0;
    @Controller('endless')
    class Endless {
      @Get()
      @CachedRoute()
      find() {
        subscribed += 1;
        return concat(of('one', 'two'), NEVER);
      }
    }
    const site = await serve({ controllers: [Endless], providers: [EVERYWHERE] });
    const first = site.leaving('/endless');
    await until(() => subscribed === 1, { what: 'the first request to arrive' });
    const second = site.leaving('/endless');
    await until(() => subscribed === 2, { what: 'the second request to run by itself' });
    first.leave();
    second.leave();
    await Promise.allSettled([first.answer, second.answer]);
    expect(site.stored).toBe(0);
    expect(site.warnings(/Endless\.find\b/)).toHaveLength(1);
  });

  it('a Buffer, to the last byte, whether it is cached or not', async () => {
    const site = await serve({ controllers: [Streams, Bare], providers: [EVERYWHERE], prepare });
    const bare = await site.get('/bare/buffer');
    for (let i = 0; i < 2; i++) {
      const answer = await site.get('/buffer');
      expect([...answer.bytes]).toEqual([...bare.bytes]);
      expect(answer.headers['content-type']).toBe(bare.headers['content-type']);
    }
  });
});

function camel(path: string): string {
  return path.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
