import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Get, Next, Res } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { field } from './support/field.js';
import { EVERYWHERE, PLATFORMS, serve } from './support/http.js';

const here = field();
/** A hit that nobody answers would hang until then. */
const HANGS_AFTER = 1_000;

/** What both platforms' responses have in common, and what each has alone. */
interface Reply {
  status(code: number): Reply;
  header(name: string, value: string): Reply;
  send(body: unknown): unknown;
  redirect(url: string): unknown;
  sendFile?(path: string): void;
  hijack?(): void;
  readonly raw?: ServerResponse;
}

const folder = mkdtempSync(join(tmpdir(), 'stampede-cache-'));
const file = join(folder, 'file.txt');
beforeAll(() => writeFileSync(file, 'a file'));
afterAll(() => rmSync(folder, { recursive: true }));

let runs = 0;
beforeEach(() => {
  runs = 0;
});

@Controller()
@CachedRoute()
class Manual {
  @Get('sent')
  sent(@Res() response: Reply) {
    runs += 1;
    response.status(201).send('by hand');
  }
  @Get('redirect')
  redirect(@Res() response: Reply) {
    runs += 1;
    // Nest has set 200 by then, which Fastify would keep.
    response.status(302).redirect('/sent');
  }
  @Get('raw')
  raw(@Res() response: Reply) {
    runs += 1;
    response.hijack?.();
    // Express' response is Node's own.
    const raw = response.raw ?? (response as unknown as ServerResponse);
    raw.statusCode = 202;
    raw.end('raw');
  }
  @Get('file')
  file(@Res() response: Reply) {
    runs += 1;
    if (response.sendFile) response.sendFile(file);
    else response.send('a file');
  }
  @Get('next')
  next(@Res() response: Reply, @Next() _next: () => void) {
    runs += 1;
    response.send('beside next');
  }
  @Get('passthrough')
  passthrough(@Res({ passthrough: true }) response: Reply) {
    runs += 1;
    response.status(203).header('x-by', 'hand');
    return { by: 'Nest' };
  }
}

describe.each(PLATFORMS)('FC-049, on %s: a marked route that answers by hand', (platform) => {
  const start = async () => {
    const { url } = await serve(here, platform, { controllers: [Manual], providers: [EVERYWHERE] });
    return async (path: string) => {
      const signal = AbortSignal.timeout(HANGS_AFTER);
      const response = await fetch(`${url}${path}`, { redirect: 'manual', signal });
      return { response, text: await response.text() };
    };
  };

  it.each([
    ['sent', 201, 'by hand'],
    ['redirect', 302, expect.any(String)],
    ['raw', 202, 'raw'],
    ['file', 200, 'a file'],
    ['next', 200, 'beside next'],
  ])(
    '/%s is served by its handler each time, hangs never, and is warned of once',
    async (path, status, text) => {
      const get = await start();
      for (let i = 0; i < 2; i++) {
        const answer = await get(`/${path}`);
        expect(answer.response.status).toBe(status);
        expect(answer.text).toEqual(text);
      }
      expect(runs).toBe(2);
      expect(await here.entries()).toEqual([]);
      expect(here.lines.warnings.filter((line) => line.includes(`Manual.${path}:`))).toHaveLength(1);
    },
  );

  it('only in passing is a hit the second time, with the same status, headers and body', async () => {
    const get = await start();
    for (let i = 0; i < 2; i++) {
      const { response, text } = await get('/passthrough');
      expect([response.status, response.headers.get('x-by'), text]).toEqual([203, 'hand', '{"by":"Nest"}']);
    }
    expect(runs).toBe(1);
    expect(await here.entries()).toHaveLength(1);
  });
});
