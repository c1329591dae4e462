import {
  Body,
  Controller,
  DefaultValuePipe,
  Get,
  Header,
  Headers,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Req,
  Res,
  UseInterceptors,
  Version,
  VersioningType,
} from '@nestjs/common';
import { Cached, CachedRoute, CacheEvict, CachePut, StampedeCacheInterceptor } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, isHit, PLATFORMS, type Reply, type Site } from './kit.js';

@Controller('products')
class Products {
  runs = 0;

  @Get()
  @Cached()
  async list(@Query('page', new DefaultValuePipe(1), ParseIntPipe) page: number) {
    return { page, run: (this.runs += 1) };
  }

  @Get('plain/:id')
  @Header('x-kind', 'product')
  @Cached()
  async find(@Param('id', ParseIntPipe) id: number) {
    return { id, run: (this.runs += 1) };
  }

  @Get('language/:id')
  @Cached()
  async translated(@Param('id') id: string, @Headers('accept-language') language: string | undefined) {
    return { id, language, run: (this.runs += 1) };
  }

  @Get('response/:id')
  @Cached()
  async withResponse(@Param('id') id: string, @Res({ passthrough: true }) response: Reply) {
    response.header('x-id', id);
    return { id, run: (this.runs += 1) };
  }

  @Get('keyed')
  @Cached({
    key: (request: { url: string }) => request.url.split('id=')[1],
    http: { inputs: { query: ['id'] } },
  })
  async keyed(@Req() request: { url: string }) {
    return { url: request.url, run: (this.runs += 1) };
  }

  @Get('versions/:id')
  @Version(['1', '2'])
  @Cached()
  async versioned(@Param('id', ParseIntPipe) id: number) {
    return { id, run: (this.runs += 1) };
  }

  @Post('plain/:id')
  @CacheEvict({ of: 'find', args: (_result: { id: number }, id: number) => [id] })
  async update(@Param('id', ParseIntPipe) id: number) {
    return { id };
  }

  @Post('put/:id')
  @CachePut({ of: 'find', args: (_result: { id: number; run: number }, id: number) => [id] })
  async put(@Param('id', ParseIntPipe) id: number, @Body() { run }: { run: number }) {
    return { id, run };
  }

  @Get('tagged/:id')
  @Cached({ tags: Array.from({ length: 16 }, (_, i) => `tag ${i}`) })
  async tagged(@Param('id', ParseIntPipe) id: number) {
    return { id, run: (this.runs += 1) };
  }

  @Get('route/:id')
  @CachedRoute()
  route(@Param('id') id: string) {
    return { id, run: (this.runs += 1) };
  }
}

describe.each(PLATFORMS)('Responses of a @Cached handler, by its arguments, on %s', (platform) => {
  const { serve } = host(platform);
  const start = () =>
    serve({
      controllers: [Products],
      providers: [EVERYWHERE],
      prepare: (app) => app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' }),
    });
  const runOf = async (site: Site, path: string, headers: Record<string, string> = {}): Promise<number> =>
    (JSON.parse((await site.get(path, headers)).text) as { run: number }).run;

  it('are dropped by invalidate(), and no others', async () => {
    const site = await start();
    expect([await runOf(site, '/products/plain/1'), await runOf(site, '/products/plain/2')]).toEqual([1, 2]);
    await site.cache.of(Products, 'find').invalidate(1);
    expect([await runOf(site, '/products/plain/1'), await runOf(site, '/products/plain/2')]).toEqual([3, 2]);
    expect((await site.ask('/products/plain/2', { method: 'HEAD' })).headers['x-kind']).toBe('product');
    await site.cache.of(Products, 'find').invalidate(2);
    const again = await site.ask('/products/plain/2', { method: 'HEAD' });
    expect(isHit(again)).toBe(false);
  });

  it.each([
    [
      'another spelling of a number',
      '/products/plain/042',
      (site: Site) => site.cache.of(Products, 'find').invalidate(42),
    ],
    ['a default of a pipe', '/products', (site: Site) => site.cache.of(Products, 'list').invalidate(1)],
    [
      'a header that is left out',
      '/products/language/1',
      (site: Site) => site.cache.of(Products, 'translated').invalidate('1', undefined),
    ],
    [
      'a response beside the inputs',
      '/products/response/1',
      (site: Site) => site.cache.of(Products, 'withResponse').invalidate('1', undefined as never),
    ],
    [
      'a key of its own for calls',
      '/products/keyed?id=7',
      (site: Site) => site.cache.of(Products, 'keyed').invalidate({ url: '/x?id=7' }),
    ],
  ])('%s is found as well', async (_, path, invalidate) => {
    const site = await start();
    expect([await runOf(site, path), await runOf(site, path)]).toEqual([1, 1]);
    await invalidate(site);
    expect(await runOf(site, path)).toBe(2);
  });

  it('each version of the route is dropped', async () => {
    const site = await start();
    const both = async () => [
      await runOf(site, '/products/versions/1', { 'x-version': '1' }),
      await runOf(site, '/products/versions/1', { 'x-version': '2' }),
    ];
    expect([await both(), await both()]).toEqual([
      [1, 2],
      [1, 2],
    ]);
    await site.cache.of(Products, 'versioned').invalidate(1);
    expect(await both()).toEqual([3, 4]);
  });

  it('@CacheEvict and @CachePut of a handler drop what its requests were answered with', async () => {
    const site = await start();
    expect(await runOf(site, '/products/plain/1')).toBe(1);
    expect((await site.ask('/products/plain/1', { method: 'POST' })).status).toBe(201);
    expect(await runOf(site, '/products/plain/1')).toBe(2);
    await site.ask('/products/put/1', { method: 'POST', body: { run: 100 } });
    expect(await runOf(site, '/products/plain/1')).toBe(3);
  });

  it('clear() of one handler drops all of it, also of one that is a @CachedRoute', async () => {
    const site = await start();
    expect([await runOf(site, '/products/plain/1'), await runOf(site, '/products/route/1')]).toEqual([1, 2]);
    await site.cache.of(Products, 'find').clear();
    expect([await runOf(site, '/products/plain/1'), await runOf(site, '/products/route/1')]).toEqual([3, 2]);
    await site.cache.of(Products as never, 'route' as never).clear();
    expect(await runOf(site, '/products/route/1')).toBe(4);
  });

  it('a @CachedRoute has no calls to name entries by, and says so', async () => {
    const site = await start();
    const handle = site.cache.of(Products as never, 'route' as never) as {
      invalidate(id: string): Promise<void>;
    };
    await expect(handle.invalidate('1')).rejects.toThrow(/Products\.route: invalidate\(\).*tags/);
  });

  it('a refreshed call leaves no older response behind', async () => {
    const site = await start();
    expect(await runOf(site, '/products/plain/1')).toBe(1);
    await site.cache.of(Products, 'find').refresh(1);
    expect(await runOf(site, '/products/plain/1')).toBe(3);
  });

  it('the tag of a response needs no place among the sixteen of its author', async () => {
    const site = await start();
    expect([await runOf(site, '/products/tagged/01'), await runOf(site, '/products/tagged/01')]).toEqual([
      1, 1,
    ]);
    await site.cache.of(Products, 'tagged').invalidate(1);
    expect(await runOf(site, '/products/tagged/01')).toBe(2);
    await site.cache.invalidateTags('tag 15');
    expect(await runOf(site, '/products/tagged/01')).toBe(3);
  });

  it('an interceptor that is bound twice acts once', async () => {
    @Controller('twice')
    @UseInterceptors(StampedeCacheInterceptor)
    class Twice {
      runs = 0;
      @Get()
      @Cached()
      @UseInterceptors(StampedeCacheInterceptor)
      async find() {
        return { run: (this.runs += 1) };
      }
    }
    const site = await serve({ controllers: [Twice], providers: [EVERYWHERE] });
    expect([await runOf(site, '/twice'), await runOf(site, '/twice')]).toEqual([1, 1]);
    const declined = await site.get('/twice', { authorization: 'x' });
    expect(declined.headers['cache-status']).toBe('stampede-cache; fwd=bypass; detail=credential');
  });
});
