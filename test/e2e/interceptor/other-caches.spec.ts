import {
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Ip,
  Query,
  VersioningType,
  type VersioningOptions,
} from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, PLATFORMS, type Incoming } from './kit.js';

/** Who is known by another header than those of http.credentials. */
const Client = createParamDecorator((_: unknown, context: ExecutionContext) => {
  return context.switchToHttp().getRequest<Incoming>().headers['x-api-key'];
});
const entry = { cacheControl: 'entry' } as const;

@Controller()
@CachedRoute({ http: entry })
class Pages {
  @Get('plain')
  plain(@Query('page') _page?: string) {
    return 'a';
  }
  @Get('client')
  client(@Client() _client?: string) {
    return 'a';
  }
  @Get('public')
  @CachedRoute({ http: { ...entry, public: true } })
  public(@Client() _client?: string) {
    return 'a';
  }
  @Get('key')
  @CachedRoute({ http: { ...entry, key: () => 'one' } })
  key() {
    return 'a';
  }
  @Get('address')
  @CachedRoute({ http: { ...entry, inputs: { ip: true } } })
  address(@Ip() _ip: string) {
    return 'a';
  }
  @Get('tenant')
  @CachedRoute({ vary: () => 'acme', http: entry })
  tenant() {
    return 'a';
  }
  @Get('own')
  @CachedRoute({ http: { cacheControl: 'public, max-age=5' } })
  own(@Client() _client?: string) {
    return 'a';
  }
}

describe.each(PLATFORMS)("What other caches may keep of cacheControl 'entry' on %s", (platform) => {
  const { serve } = host(platform);
  const start = (versioning?: VersioningOptions, vary?: () => string) =>
    serve({
      controllers: [Pages],
      providers: [EVERYWHERE],
      ...(vary && { cache: { vary } }),
      prepare: (app) => void (versioning && app.enableVersioning(versioning)),
    });

  it.each([
    ['plain', 'public'],
    ['public', 'public'],
    ['client', 'private'],
    ['key', 'private'],
    ['address', 'private'],
    ['tenant', 'private'],
  ])('/%s: it is %s', async (path, who) => {
    const site = await start();
    const answers = [await site.get(`/${path}`), await site.get(`/${path}`)];
    for (const { headers } of answers)
      expect(headers['cache-control']).toMatch(new RegExp(`^${who}, max-age=`));
  });

  it('is for one client where the module varies, or the application finds versions by itself', async () => {
    const byTenant = await start(undefined, () => 'acme');
    expect((await byTenant.get('/plain')).headers['cache-control']).toMatch(/^private, max-age=/);
    const extractor = () => '1';
    const byVersion = await start({ type: VersioningType.CUSTOM, extractor });
    expect((await byVersion.get('/plain')).headers['cache-control']).toMatch(/^private, max-age=/);
    expect((await byVersion.get('/public')).headers['cache-control']).toMatch(/^public, max-age=/);
  });

  it('is what the author wrote, where that is a text', async () => {
    const site = await start();
    expect((await site.get('/own')).headers['cache-control']).toBe('public, max-age=5');
  });

  it('is told of once where a decorator is the reason', async () => {
    const site = await start();
    await site.get('/client');
    const told = site.warnings(/private/);
    expect(told).toEqual([
      expect.stringMatching(/Pages\.client: parameter 1, a custom decorator.*http\.public/),
    ]);
  });
});
