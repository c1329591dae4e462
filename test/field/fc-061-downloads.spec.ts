import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Controller, Get, Header, Res, StreamableFile } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { times } from './support/conditions.js';
import { field } from './support/field.js';
import { EVERYWHERE, PLATFORMS, serve } from './support/http.js';

const here = field();
const BYTES = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256));
const TEXT = 'zipped'.repeat(1_000);
const ZIPPED = gzipSync(TEXT);
const CLIENTS = 20;
const HANGS_AFTER = 5_000;

interface Reply {
  header(name: string, value: string): Reply;
}

let runs = 0;
const warnings: Error[] = [];
const keep = (warning: Error) => void warnings.push(warning);
beforeEach(() => {
  runs = 0;
  warnings.length = 0;
  process.on('warning', keep);
});
afterEach(() => void process.off('warning', keep));

@Controller()
@CachedRoute()
class Downloads {
  @Get('file')
  file() {
    runs += 1;
    return new StreamableFile(BYTES, {
      type: 'application/pdf',
      disposition: 'attachment; filename="a.pdf"',
    });
  }
  @Get('stream')
  stream() {
    runs += 1;
    return new StreamableFile(Readable.from(chunksOf(BYTES)), { type: 'image/png', length: BYTES.length });
  }
  @Get('buffer')
  buffer(@Res({ passthrough: true }) response: Reply) {
    runs += 1;
    response.header('content-type', 'application/octet-stream');
    return BYTES;
  }
  @Get('zipped')
  @Header('content-encoding', 'gzip')
  zipped() {
    runs += 1;
    return new StreamableFile(ZIPPED, { type: 'text/plain' });
  }
}

/** The same without a mark: Nest on Express sends a Buffer as JSON. */
@Controller('bare')
class Bare {
  @Get('buffer')
  buffer(@Res({ passthrough: true }) response: Reply) {
    return new Downloads().buffer(response);
  }
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 10_000) yield bytes.subarray(at, at + 10_000);
}

describe.each(PLATFORMS)('FC-061, on %s: a download from a marked route', (platform) => {
  const serveAll = async () => {
    const options = { controllers: [Downloads, Bare], providers: [EVERYWHERE] };
    const { url } = await serve(here, platform, options);
    return async (path: string) => {
      const response = await fetch(`${url}/${path}`, { signal: AbortSignal.timeout(HANGS_AFTER) });
      const bytes = Buffer.from(await response.arrayBuffer());
      return { headers: Object.fromEntries(response.headers), bytes };
    };
  };
  const disposition = 'attachment; filename="a.pdf"';

  it.each([
    ['file', BYTES, { 'content-type': 'application/pdf', 'content-disposition': disposition }],
    ['stream', BYTES, { 'content-type': 'image/png', 'content-length': String(BYTES.length) }],
    ['zipped', Buffer.from(TEXT), { 'content-type': 'text/plain', 'content-encoding': 'gzip' }],
  ])(
    '/%s is the same to the last byte, in turn and for 20 at once: each has its own',
    async (path, bytes, headers) => {
      const get = await serveAll();
      for (const answer of [await get(path), await get(path), ...(await times(CLIENTS, () => get(path)))]) {
        expect(answer.bytes.equals(bytes)).toBe(true);
        expect(answer.headers).toMatchObject(headers);
      }
      expect(runs).toBe(2 + CLIENTS);
      expect(await here.entries()).toEqual([]);
      expect(warnings.filter(({ name }) => name.startsWith('MaxListeners'))).toEqual([]);
    },
  );

  it('that is a Buffer is what it is without the mark', async () => {
    const get = await serveAll();
    const bare = await get('bare/buffer');
    const all = [await get('buffer'), await get('buffer'), ...(await times(CLIENTS, () => get('buffer')))];
    for (const answer of all) {
      expect(answer.bytes.equals(bare.bytes)).toBe(true);
      expect(answer.headers['content-type']).toBe(bare.headers['content-type']);
    }
  });
});
