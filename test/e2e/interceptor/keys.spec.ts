import {
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Headers,
  HostParam,
  Param,
  ParseIntPipe,
  Query,
} from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { RedisServer } from '../../support/redis-server.js';
import { EVERYWHERE, host, PLATFORMS, type Incoming, type Site } from './kit.js';

const Tenant = createParamDecorator((_: unknown, context: ExecutionContext) => {
  return context.switchToHttp().getRequest<Incoming>().headers['x-tenant'];
});

let runs = 0;
beforeEach(() => {
  runs = 0;
});

/** Which handler run each of these is answered by. */
async function runsOf(
  site: Site,
  asks: readonly (readonly [path: string, headers?: Record<string, string>])[],
) {
  const answers: number[] = [];
  for (const [path, headers] of asks) answers.push(Number((await site.get(path, headers)).text));
  return answers;
}

@Controller('products')
@CachedRoute()
class Products {
  @Get('page')
  page(@Query('page') _page?: string) {
    return (runs += 1);
  }
  @Get('all')
  all(@Query() _query: object) {
    return (runs += 1);
  }
  @Get('some')
  @CachedRoute({ http: { inputs: { query: ['page'] } } })
  some(@Query() _query: object) {
    return (runs += 1);
  }
  @Get('language')
  language(@Headers('Accept-Language') _language?: string) {
    return (runs += 1);
  }
  @Get('tenant')
  tenant(@Tenant() _tenant?: string) {
    return (runs += 1);
  }
  @Get(['one/:id', 'alias/:id'])
  one(@Param('id', ParseIntPipe) _id: number) {
    return (runs += 1);
  }
  @Get('path/:a/:b')
  path(@Param() _params: object) {
    return (runs += 1);
  }
  @Get('keyed/:id')
  @CachedRoute({
    http: { key: (context) => context.switchToHttp().getRequest<Incoming>().headers['x-key'] ?? '' },
  })
  keyed(@Param('id') _id: string) {
    return (runs += 1);
  }
}

describe.each(PLATFORMS)('Requests that share an entry on %s', (platform) => {
  const { serve } = host(platform);
  const products = () => serve({ controllers: [Products], providers: [EVERYWHERE] });

  it('differ in parameters and headers that the handler does not declare', async () => {
    const site = await products();
    const noise = { 'user-agent': 'a', accept: 'text/html', 'x-request-id': '1', 'accept-language': 'de' };
    expect(
      await runsOf(site, [
        ['/products/page?page=1'],
        ['/products/page?page=1&utm_source=mail&fbclid=2'],
        ['/products/page?utm_source=x&page=1', noise],
        ['/products/page?page=2'],
        ['/products/page'],
        ['/products/page?page='],
      ]),
    ).toEqual([1, 1, 1, 2, 3, 4]);
  });

  it('not in repeated parameters: each value counts, in its order', async () => {
    const site = await products();
    expect(
      await runsOf(site, [
        ['/products/page?page=a'],
        ['/products/page?page=a&page=b'],
        ['/products/page?page=b&page=a'],
        ['/products/page?page=a,b'],
        ['/products/page?page=a&page=b'],
      ]),
    ).toEqual([1, 2, 3, 4, 2]);
  });

  it('differ in the order of parameters where the handler takes all; a warning names the way out', async () => {
    const site = await products();
    expect(
      await runsOf(site, [
        ['/products/all?a=1&b=2'],
        ['/products/all?b=2&a=1'],
        ['/products/all?a=1&b=2&c=3'],
        ['/products/all?a=12&b='],
        ['/products/some?page=1&utm=2'],
        ['/products/some?utm=3&page=1'],
      ]),
    ).toEqual([1, 1, 2, 3, 4, 4]);
    const warnings = site.warnings(/http\.inputs/);
    expect(warnings.filter((line) => line.includes('Products.all'))).toHaveLength(1);
    expect(warnings.join()).not.toContain('Products.some');
  });

  it('not in declared headers, custom decorators and path parameters', async () => {
    const site = await products();
    expect(
      await runsOf(site, [
        ['/products/language', { 'accept-language': 'de' }],
        ['/products/language', { 'accept-language': 'fr' }],
        ['/products/language'],
        ['/products/language', { 'accept-language': 'de' }],
        ['/products/tenant', { 'x-tenant': 'a' }],
        ['/products/tenant', { 'x-tenant': 'b' }],
        ['/products/tenant', { 'x-tenant': 'a' }],
        ['/products/path/a/b'],
        ['/products/path/b/a'],
      ]),
    ).toEqual([1, 2, 3, 1, 4, 5, 4, 6, 7]);
  });

  it('came over another path of the same handler', async () => {
    const site = await products();
    expect(
      await runsOf(site, [
        ['/products/one/1'],
        ['/products/alias/1'],
        ['/products/alias/2'],
        ['/products/one/2'],
      ]),
    ).toEqual([1, 1, 2, 2]);
  });

  it('are those of one http.key, whatever the handler declares', async () => {
    const site = await products();
    expect(
      await runsOf(site, [
        ['/products/keyed/1', { 'x-key': 'a' }],
        ['/products/keyed/2', { 'x-key': 'a' }],
        ['/products/keyed/1', { 'x-key': 'b' }],
      ]),
    ).toEqual([1, 1, 2]);
  });

  it('not if a parameter of the host differs, declared or not', async () => {
    @Controller({ path: 'declared', host: ':shop.example.com' })
    @CachedRoute()
    class Declared {
      @Get()
      find(@HostParam('shop') shop: string) {
        runs += 1;
        return `${shop} ${runs}`;
      }
    }
    @Controller({ path: 'silent', host: ':shop.example.com' })
    @CachedRoute()
    class Silent {
      @Get()
      find() {
        return (runs += 1);
      }
    }
    const site = await serve({ controllers: [Declared, Silent], providers: [EVERYWHERE] });
    const texts: string[] = [];
    for (const path of ['/declared', '/silent']) {
      for (const shop of ['a', 'b', 'a']) {
        texts.push((await site.get(path, { host: `${shop}.example.com` })).text);
      }
    }
    expect(texts).toEqual(['a 1', 'b 2', 'a 1', '3', '4', '3']);
  });

  it('came to applications with different prefixes, over one Redis', async () => {
    const redis = await RedisServer.start();
    try {
      const cache = { redis: redis.url, namespace: 'shop', redisTimeout: '2s' } as const;
      const options = { controllers: [Products], providers: [EVERYWHERE], cache };
      const [plain, prefixed] = [
        await serve(options),
        await serve({ ...options, prepare: (app) => void app.setGlobalPrefix('api') }),
      ];
      expect(await runsOf(plain, [['/products/one/1']])).toEqual([1]);
      expect(await runsOf(prefixed, [['/api/products/one/1']])).toEqual([1]);
      expect(runs).toBe(1);
      await plain.app.close();
      await prefixed.app.close();
    } finally {
      await redis.stop();
    }
  });
});
