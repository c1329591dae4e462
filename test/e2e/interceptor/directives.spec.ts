import { Controller, Get } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { until } from '../../support/until.js';
import { EVERYWHERE, host, isHit, PLATFORMS, type Site } from './kit.js';

let runs = 0;
beforeEach(() => {
  runs = 0;
});

@Controller()
@CachedRoute({ tags: ['all'], stale: '1m' })
class Pages {
  @Get('deaf')
  deaf() {
    return (runs += 1);
  }
  @Get('heeds')
  @CachedRoute({ tags: ['all'], stale: '1m', http: { requestDirectives: true } })
  heeds() {
    return (runs += 1);
  }
  @Get('some')
  @CachedRoute({ http: { requestDirectives: ['only-if-cached'] } })
  some() {
    return (runs += 1);
  }
}

describe.each(PLATFORMS)('Cache-Control of a request on %s', (platform) => {
  const { serve } = host(platform);
  const start = () => serve({ controllers: [Pages], providers: [EVERYWHERE] });
  const ask = async (site: Site, path: string, directive: string) => {
    return (await site.get(path, { 'cache-control': directive })).text;
  };

  it.each(['no-cache', 'no-store', 'max-age=0', 'only-if-cached'])('is not heeded: %s', async (directive) => {
    const site = await start();
    for (let i = 0; i < 3; i++) expect(await ask(site, '/deaf', directive)).toBe('1');
    expect((await site.get('/deaf', { pragma: 'no-cache' })).text).toBe('1');
    expect([runs, site.stored]).toEqual([1, 1]);
  });

  it('no-cache and max-age=0, where allowed, load anew; all get what they loaded', async () => {
    const site = await start();
    expect((await site.get('/heeds')).text).toBe('1');
    expect(await ask(site, '/heeds', 'no-cache')).toBe('2');
    expect((await site.get('/heeds')).text).toBe('2');
    expect(await ask(site, '/heeds', 'max-age=0')).toBe('3');
    expect(await ask(site, '/heeds', 'max-age=600')).toBe('3');
  });

  it('no-store, where allowed, stores nothing', async () => {
    const site = await start();
    expect(await ask(site, '/heeds', 'no-store')).toBe('1');
    expect(site.stored).toBe(0);
    expect((await site.get('/heeds')).text).toBe('2');
  });

  it.each(['heeds', 'some'])(
    'only-if-cached, where allowed, never loads: 504 or a hit (/%s)',
    async (path) => {
      const site = await start();
      const { status } = await site.get(`/${path}`, { 'cache-control': 'only-if-cached' });
      expect([status, runs]).toEqual([504, 0]);
      await site.get(`/${path}`);
      const hit = await site.get(`/${path}`, { 'cache-control': 'only-if-cached' });
      expect([hit.status, hit.text, isHit(hit), runs]).toEqual([200, '1', true, 1]);
    },
  );

  it('those that are not listed are not heeded', async () => {
    const site = await start();
    for (const directive of ['max-age=600', 'no-cache', 'no-store']) {
      expect(await ask(site, '/some', directive)).toBe('1');
    }
  });

  it('max-stale, where allowed, bounds how old a stale answer may be', async () => {
    const site = await start();
    await site.get('/heeds');
    await site.cache.expireTags('all');
    expect(await ask(site, '/heeds', 'max-stale=600')).toBe('1');
    await until(() => site.stored === 2, { what: 'the refresh to be stored' });
    await site.cache.expireTags('all');
    expect(await ask(site, '/heeds', 'max-stale=0')).toBe('3');
  });
});
