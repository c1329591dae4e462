import { Controller, Get, HttpException, Res, ServiceUnavailableException } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { field } from './support/field.js';
import { EVERYWHERE, PLATFORMS, serve } from './support/http.js';

const here = field();

interface Reply {
  status(code: number): Reply;
}

const upstream = { status: 503, runs: 0 };
beforeEach(() => {
  Object.assign(upstream, { status: 503, runs: 0 });
});

@Controller()
@CachedRoute({ ttl: '7m' })
class Upstream {
  @Get('throws')
  throws() {
    upstream.runs += 1;
    if (upstream.status === 503) throw new ServiceUnavailableException('try later');
    if (upstream.status >= 400) throw new HttpException('odd', upstream.status);
    return { ok: true };
  }
  @Get('by-hand')
  byHand(@Res({ passthrough: true }) response: Reply) {
    upstream.runs += 1;
    response.status(upstream.status);
    return { ok: upstream.status < 300 };
  }
  @Get('by-value')
  @CachedRoute({ ttl: '7m', cacheIf: (value) => (value as { ok: boolean }).ok })
  byValue() {
    upstream.runs += 1;
    return { ok: upstream.status < 300 };
  }
}

describe.each(PLATFORMS)('FC-039, on %s: a route that fails and recovers', (platform) => {
  it.each([
    ['throws', 503],
    ['by-hand', 503],
    ['by-value', 200],
  ])(
    '/%s: the failure reaches its client and is not stored; the next request runs again',
    async (path, status) => {
      const { url } = await serve(here, platform, { controllers: [Upstream], providers: [EVERYWHERE] });
      const get = async () => {
        const response = await fetch(`${url}/${path}`);
        return [response.status, await response.json()];
      };
      for (let i = 0; i < 2; i++) {
        const [failed, body] = await get();
        expect([failed, body]).toEqual([status, expect.not.objectContaining({ ok: true })]);
      }
      expect(upstream.runs).toBe(2);
      expect(await here.entries()).toEqual([]);
      upstream.status = 200;
      for (let i = 0; i < 3; i++) expect(await get()).toEqual([200, { ok: true }]);
      expect(upstream.runs).toBe(3);
      expect(await here.pttl()).toBeGreaterThan(419_000);
    },
  );

  it.each([500, 404, 301, 204])('a status set by hand is stored only if it is 2xx: %d', async (status) => {
    const { url } = await serve(here, platform, { controllers: [Upstream], providers: [EVERYWHERE] });
    upstream.status = status;
    for (let i = 0; i < 2; i++) {
      expect((await fetch(`${url}/by-hand`, { redirect: 'manual' })).status).toBe(status);
    }
    const isStored = status < 300;
    expect(upstream.runs).toBe(isStored ? 1 : 2);
    expect(await here.entries()).toHaveLength(isStored ? 1 : 0);
  });
});
