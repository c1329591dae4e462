import {
  Controller,
  Get,
  Module,
  Param,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
  type Type,
  type VersioningOptions,
} from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { CachedRoute } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, PLATFORMS, type Answer, type Site, type SiteOptions } from './kit.js';

let runs = 0;
beforeEach(() => {
  runs = 0;
});

/** A controller at this path whose one handler has several versions, or one. */
function versioned(path: string, version: Parameters<typeof Version>[0], handlerPath: string[] = ['']): Type {
  @Controller(path)
  @CachedRoute()
  class Versions {
    @Get(handlerPath)
    @Version(version)
    find(@Param('id') _id?: string) {
      return (runs += 1);
    }
  }
  return Versions;
}

/** Which handler run each of these is answered by. */
async function runsOf(
  site: Site,
  asks: readonly (string | [path: string, headers: Record<string, string>])[],
) {
  const answers: (number | string)[] = [];
  for (const one of asks) {
    const [path, headers] = typeof one === 'string' ? [one, {}] : one;
    const { status, text } = await site.get(path, headers);
    answers.push(status === 200 ? Number(text) : `${path} ${status}`);
  }
  return answers;
}

const varyOf = ({ headers }: Answer) => String(headers['vary'] ?? '');

describe.each(PLATFORMS)('Requests for versions on %s', (platform) => {
  const { serve } = host(platform);
  const start = (
    controllers: Type[],
    versioning: VersioningOptions,
    { prepare, ...more }: SiteOptions = {},
  ) =>
    serve({
      controllers,
      providers: [EVERYWHERE],
      ...more,
      prepare: (app) => {
        app.enableVersioning(versioning);
        prepare?.(app);
      },
    });
  const URI = { type: VersioningType.URI } as const;

  describe('in the path are told apart', () => {
    it('and other paths of one version are not', async () => {
      const site = await start([versioned('products', ['1', '2'], ['one/:id', 'alias/:id'])], URI);
      expect(
        await runsOf(site, ['/v1/products/one/7', '/v2/products/one/7', '/v1/products/alias/7']),
      ).toEqual([1, 2, 1]);
    });

    it('below a global prefix that looks like a version', async () => {
      const site = await start([versioned('products', ['1', '2'])], URI, {
        prepare: (app) => void app.setGlobalPrefix('v1'),
      });
      expect(await runsOf(site, ['/v1/v1/products', '/v1/v2/products', '/v1/v1/products'])).toEqual([
        1, 2, 1,
      ]);
    });

    it('on routes that the prefix leaves out', async () => {
      const site = await start([versioned('', ['1', '2'], ['hello', 'v2/other'])], URI, {
        prepare: (app) => void app.setGlobalPrefix('/v1/', { exclude: ['hello'] }),
      });
      expect(await runsOf(site, ['/v1/hello', '/v2/hello', '/v1/hello'])).toEqual([1, 2, 1]);
      expect(await runsOf(site, ['/v1/v1/v2/other', '/v1/v2/v2/other'])).toEqual([1, 2]);
    });

    it('above paths of modules and controllers that look like one', async () => {
      @Module({ controllers: [versioned('v1/products', ['1', '2'])] })
      class Shop {}
      const site = await start([], URI, {
        imports: [Shop, RouterModule.register([{ path: 'v2', module: Shop }])],
        prepare: (app) => void app.setGlobalPrefix('api/v2'),
      });
      const path = '/v2/v1/products';
      expect(await runsOf(site, [`/api/v2/v1${path}`, `/api/v2/v2${path}`, `/api/v2/v1${path}`])).toEqual([
        1, 2, 1,
      ]);
    });

    it('from none at all, though the path looks like one', async () => {
      const site = await start([versioned('v2/products', [VERSION_NEUTRAL, '2', '3'])], URI, {
        prepare: (app) => void app.setGlobalPrefix('v3'),
      });
      const paths = ['/v3/v2/products', '/v3/v2/v2/products', '/v3/v3/v2/products'];
      expect(await runsOf(site, [...paths, ...paths])).toEqual([1, 2, 3, 1, 2, 3]);
    });

    it.each<[string | false, string]>([
      [false, ''],
      ['version-', 'version-'],
    ])('with `prefix: %p`', async (prefix, mark) => {
      const site = await start([versioned('1/:id', ['1', '2'])], { ...URI, prefix });
      const [first, second] = [`/${mark}1/1/2`, `/${mark}2/1/2`];
      expect(await runsOf(site, [first, second, first, second])).toEqual([1, 2, 1, 2]);
    });

    it('in any spelling that the platform takes for the same path', async () => {
      const site = await start([versioned('products', [VERSION_NEUTRAL, '1', '2'])], URI);
      const [one, two, none] = ['/v1/products', '/v2/products', '/products'];
      expect(await runsOf(site, [one, two, none])).toEqual([1, 2, 3]);
      const odd = await runsOf(site, ['/V1/products', '/V2/products', '/%761/products', '/%762/products']);
      const taken = odd.filter((run) => typeof run === 'number');
      expect(taken).toEqual([1, 2]);
      expect(await runsOf(site, [one, two, none])).toEqual([1, 2, 3]);
    });

    it('and none of them is named in Vary', async () => {
      const site = await start([versioned('products', ['1', '2'])], URI);
      expect(varyOf(await site.get('/v1/products'))).toBe('');
    });
  });

  describe('by a header are told apart', () => {
    const HEADER = { type: VersioningType.HEADER, header: 'X-V' } as const;

    it('and Vary names it, also where a handler has one version or none', async () => {
      @Controller()
      @CachedRoute()
      class Pages {
        @Get('both')
        @Version(['1', '2'])
        both() {
          return (runs += 1);
        }
        @Get('one')
        @Version('1')
        one() {
          return (runs += 1);
        }
        @Get('any')
        any() {
          return (runs += 1);
        }
      }
      const site = await start([Pages], HEADER);
      const asking = (version: string): [string, Record<string, string>] => ['/both', { 'x-v': version }];
      expect(await runsOf(site, [asking('1'), asking('2'), asking('1')])).toEqual([1, 2, 1]);
      expect(varyOf(await site.get(...asking('2')))).toBe('X-V');
      expect(varyOf(await site.get('/one', { 'x-v': '1' }))).toBe('X-V');
      expect(varyOf(await site.get('/any'))).toBe('X-V');
    });
  });

  describe('by the media type are told apart', () => {
    const MEDIA = { type: VersioningType.MEDIA_TYPE, key: 'v=' } as const;
    const accept = (value: string): [string, Record<string, string>] => ['/products', { accept: value }];

    it('and Vary names Accept', async () => {
      const site = await start([versioned('products', ['1', '2'])], MEDIA);
      const [v1, v2] = [accept('application/json;v=1'), accept('application/json; v=2')];
      expect(await runsOf(site, [v1, v2, v1, v2])).toEqual([1, 2, 1, 2]);
      expect(varyOf(await site.get(...v1))).toBe('Accept');
    });

    it('however Nest finds them', async () => {
      const site = await start([versioned('products', [VERSION_NEUTRAL, '1', '2'])], MEDIA);
      const odd = [
        'text/html, application/json;v=1',
        'text/html, application/json;v=2',
        'application/json;q=1;v=1',
        'application/json;q=1;v=2',
        'application/json;xv=1',
        'application/json;xv=2',
        'application/json;v="1"',
        'application/json;v="2"',
      ];
      await runsOf(site, [accept('text/html'), ...odd.map(accept)]);
      const [none, ...told] = await runsOf(site, [accept('text/html'), ...odd.map(accept)]);
      // NestJS 12 and 11 differ in which of these pairs they take for versions.
      const pairs = told.map((run, i) => [run, told[i + 1]]).filter((_, i) => i % 2 === 0);
      expect(pairs.filter(([one, two]) => typeof one === 'number' && one === two)).toEqual([]);
      expect(none).toBe(1);
    });
  });

  it('by an own extractor are told apart', async () => {
    // Only Node's own request has these, and it is what both adapters ask with.
    const extractor = (request: unknown) => {
      const { rawHeaders } = request as { rawHeaders: readonly string[] };
      return (rawHeaders[rawHeaders.indexOf('x-versions') + 1] ?? '').split(' ');
    };
    const site = await start([versioned('products', ['1', '2'])], { type: VersioningType.CUSTOM, extractor });
    const asking = (versions: string): [string, Record<string, string>] => [
      '/products',
      { 'x-versions': versions },
    ];
    expect(await runsOf(site, [asking('1'), asking('2'), asking('9 1'), asking('2 3')])).toEqual([
      1, 2, 1, 2,
    ]);
    expect(await runsOf(site, [asking('2 1'), asking('1 2')])).toEqual([3, 4]);
  });
});
