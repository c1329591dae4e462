import { Controller, Get, Header, Headers, Res } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, isHit, PLATFORMS, type Reply } from './kit.js';

let runs = 0;
beforeEach(() => {
  runs = 0;
});

@Controller()
@CachedRoute({ tags: ['all'] })
class Pages {
  @Get('default')
  byDefault() {
    return { run: (runs += 1) };
  }
  @Get('entry')
  @CachedRoute({ ttl: '60s', http: { cacheControl: 'entry' } })
  entry() {
    return { run: (runs += 1) };
  }
  @Get('none')
  @CachedRoute({ http: { cacheControl: false } })
  none() {
    return { run: (runs += 1) };
  }
  @Get('text')
  @CachedRoute({ http: { cacheControl: 'public, max-age=5' } })
  text() {
    return { run: (runs += 1) };
  }
  @Get('own')
  @Header('cache-control', 'no-transform')
  own() {
    return { run: (runs += 1) };
  }
  @Get('language')
  language(@Headers('accept-language') language = 'en') {
    runs += 1;
    return { language };
  }
  @Get('merged')
  @CachedRoute({ http: { key: () => 'one' } })
  merged(@Headers('accept-language') _language: string, @Res({ passthrough: true }) response: Reply) {
    runs += 1;
    response.header('vary', 'Origin');
    return {};
  }
  @Get('tagged')
  tagged(@Res({ passthrough: true }) response: Reply) {
    runs += 1;
    response.header('etag', '"own"');
    return {};
  }
}

describe.each(PLATFORMS)('What a response says about its freshness on %s', (platform) => {
  const { serve } = host(platform);
  const start = () => serve({ controllers: [Pages], providers: [EVERYWHERE] });

  it('Cache-Status: a miss that was stored, then hits with the time left', async () => {
    const site = await start();
    const [miss, hit] = [await site.get('/default'), await site.get('/default')];
    expect(isHit(miss)).toBe(false);
    expect(miss.headers['cache-status']).toMatch(/; ?fwd=(uri-)?miss\b/);
    expect(hit.headers['cache-status']).toMatch(/^[A-Za-z"][^;]*; ?hit\b/);
    const ttl = Number(/; ?ttl=(\d+)/.exec(String(hit.headers['cache-status']))?.[1]);
    expect(ttl).toBeGreaterThan(30);
    expect(ttl).toBeLessThanOrEqual(60);
  });

  it('Cache-Status: a request with a credential went by the cache', async () => {
    const site = await start();
    const answer = await site.get('/default', { authorization: 'Bearer a' });
    expect(isHit(answer)).toBe(false);
    expect(answer.headers['cache-status']).toMatch(/; ?fwd=(bypass|request)\b/);
    expect(answer.headers['age']).toBeUndefined();
  });

  it('Age, in whole seconds, on what comes from the cache', async () => {
    const site = await start();
    await site.get('/default');
    expect((await site.get('/default')).headers['age']).toMatch(/^\d+$/);
  });

  it.each([
    ['default', /^private, no-cache$/],
    ['none', /^undefined$/],
    ['text', /^public, max-age=5$/],
    ['own', /^no-transform$/],
    ['entry', /\bmax-age=(5\d|60)\b/],
  ])('Cache-Control of /%s, the same on a miss and a hit', async (path, expected) => {
    const site = await start();
    for (let i = 0; i < 2; i++) {
      expect(String((await site.get(`/${path}`)).headers['cache-control'])).toMatch(expected);
    }
  });

  it('no life of an entry that is not there: a response that went by the cache can not be kept', async () => {
    const site = await start();
    const { headers } = await site.get('/entry', { authorization: 'Bearer a' });
    expect(headers['cache-control'] ?? '').not.toMatch(/max-age=[1-9]|public/);
  });

  it('Vary: the headers that tell entries apart, beside those of the handler', async () => {
    const site = await start();
    const vary = async (path: string) => String((await site.get(path)).headers['vary'] ?? '').toLowerCase();
    for (let i = 0; i < 2; i++) {
      expect(await vary('/language')).toContain('accept-language');
      expect((await vary('/merged')).split(/, ?/).sort()).toEqual(['accept-language', 'origin']);
    }
  });

  it('Vary: the credentials, where a shared cache may keep the answer to who sends none', async () => {
    const site = await start();
    const { headers } = await site.get('/text');
    expect(String(headers['vary']).toLowerCase()).toMatch(/authorization.*cookie|cookie.*authorization/);
  });

  it('ETag: the same for one entry, another for another value, and 304 to who has it', async () => {
    const site = await start();
    const miss = await site.get('/default');
    const { etag } = miss.headers;
    expect(etag).toMatch(/^(W\/)?"[^"]+"$/);
    const held = String(etag);
    for (const match of [held, `"other", ${held}`, '*', `W/${held.replace(/^W\//, '')}`]) {
      const answer = await site.get('/default', { 'if-none-match': match });
      expect([match, answer.status, answer.text, answer.headers.etag]).toEqual([match, 304, '', etag]);
    }
    expect((await site.get('/default', { 'if-none-match': '"other"' })).text).toBe('{"run":1}');
    expect(runs).toBe(1);
    await site.cache.invalidateTags('all');
    const anew = await site.get('/default', { 'if-none-match': held });
    expect([anew.status, anew.text]).toEqual([200, '{"run":2}']);
    expect(anew.headers.etag).not.toBe(etag);
  });

  it('ETag: 304 to HEAD too, and to who meets a miss that makes the same', async () => {
    const site = await start();
    const etag = String((await site.get('/language')).headers.etag);
    const head = await site.ask('/language', { method: 'HEAD', headers: { 'if-none-match': etag } });
    expect([head.status, head.text]).toEqual([304, '']);
    await site.cache.invalidateTags('all');
    runs = 0;
    expect((await site.get('/language', { 'if-none-match': etag })).status).toBe(304);
    expect(runs).toBe(1);
  });

  it("ETag: the handler's own stays", async () => {
    const site = await start();
    for (let i = 0; i < 2; i++) expect((await site.get('/tagged')).headers.etag).toBe('"own"');
    expect((await site.get('/tagged', { 'if-none-match': '"own"' })).status).toBe(304);
  });
});
