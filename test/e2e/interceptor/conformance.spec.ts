import { Controller, Get, Headers } from '@nestjs/common';
import CachePolicy from 'http-cache-semantics';
import { Agent, cacheStores, interceptors, request, type Dispatcher } from 'undici';
import { CachedRoute } from 'nestjs-stampede-cache';
import { until } from '../../support/until.js';
import { EVERYWHERE, host, PLATFORMS, type Answer, type Incoming } from './kit.js';

const ENTRY = { cacheControl: 'entry' } as const;

let runs = 0;
/** What arrived at the server: the validator of each request. */
let arrived: (string | undefined)[] = [];
beforeEach(() => {
  runs = 0;
  arrived = [];
});

@Controller()
class Pages {
  @Get('entry')
  @CachedRoute({ ttl: '60s', http: ENTRY })
  entry() {
    runs += 1;
    return { page: 'entry' };
  }
  @Get('brief')
  @CachedRoute({ ttl: '1s', http: ENTRY })
  brief() {
    runs += 1;
    return { page: 'brief' };
  }
  @Get('language')
  @CachedRoute({ ttl: '60s', http: ENTRY })
  language(@Headers('accept-language') language = 'none') {
    runs += 1;
    return { language };
  }
  @Get('default')
  @CachedRoute({ ttl: '60s', tags: ['default'] })
  byDefault() {
    return { run: (runs += 1) };
  }
}

describe.each(PLATFORMS)('Clients that keep copies by the rules of HTTP, on %s', (platform) => {
  const { serve } = host(platform);
  const start = () =>
    serve({
      controllers: [Pages],
      providers: [EVERYWHERE],
      prepare: (app) => {
        app.use((incoming: Incoming, _: unknown, next: () => void) => {
          arrived.push(incoming.headers['if-none-match']);
          next();
        });
      },
    });

  describe("undici's cache, as a browser's", () => {
    let agent: Agent;
    let dispatcher: Dispatcher;
    beforeEach(() => {
      agent = new Agent();
      const store = new cacheStores.MemoryCacheStore();
      dispatcher = agent.compose(interceptors.cache({ store, type: 'private' }));
    });
    afterEach(() => agent.close());

    const get = async (url: string, headers: Record<string, string> = {}) => {
      const { statusCode, body } = await request(url, { dispatcher, headers });
      return [statusCode, await body.json()];
    };

    it("reuses a response while it is fresh, with cacheControl 'entry'", async () => {
      const { url } = await start();
      for (let i = 0; i < 3; i++) expect(await get(`${url}/entry`)).toEqual([200, { page: 'entry' }]);
      expect(arrived).toEqual([undefined]);
      expect(runs).toBe(1);
    });

    it('asks again with the ETag when it is not, and keeps its copy', async () => {
      const { url } = await start();
      await get(`${url}/brief`);
      await until(async () => (await get(`${url}/brief`)) && arrived.length > 1, { what: 'it to ask again' });
      expect(arrived[1]).toMatch(/"/);
      expect(await get(`${url}/brief`)).toEqual([200, { page: 'brief' }]);
    });

    it('keeps one for each value of what Vary names', async () => {
      const { url } = await start();
      for (const language of ['de', 'fr', 'de', 'fr']) {
        expect(await get(`${url}/language`, { 'accept-language': language })).toEqual([200, { language }]);
      }
      expect(arrived).toHaveLength(2);
      expect(runs).toBe(2);
    });

    it('asks each time by default, is told 304 without a run, and gets the new value after an invalidation', async () => {
      const { url, cache } = await start();
      for (let i = 0; i < 3; i++) expect(await get(`${url}/default`)).toEqual([200, { run: 1 }]);
      // All three arrived; the third is none of its own: it drops its copy where a 304 has a Cache-Control.
      expect(arrived).toHaveLength(3);
      expect(arrived[1]).toMatch(/"/);
      expect(runs).toBe(1);
      await cache.invalidateTags('default');
      expect(await get(`${url}/default`)).toEqual([200, { run: 2 }]);
    });
  });

  describe('http-cache-semantics', () => {
    /** One that can be asked about later. */
    class Later extends CachePolicy {
      offset = 0;
      now(): number {
        return Date.now() + (this.offset ?? 0);
      }
    }
    const asked = (url: string, headers: Record<string, string> = {}) => ({ url, method: 'GET', headers });
    const policyOf = (url: string, answer: Answer, shared: boolean, headers: Record<string, string> = {}) => {
      return new Later(asked(url, headers), { status: answer.status, headers: answer.headers }, { shared });
    };

    it("reuses a response for the entry's life and no longer, with cacheControl 'entry'", async () => {
      const site = await start();
      for (const answer of [await site.get('/entry'), await site.get('/entry')]) {
        const policy = policyOf('/entry', answer, false);
        expect(policy.storable()).toBe(true);
        expect(policy.timeToLive()).toBeGreaterThan(30_000);
        expect(policy.satisfiesWithoutRevalidation(asked('/entry'))).toBe(true);
        policy.offset = 61_000;
        expect(policy.satisfiesWithoutRevalidation(asked('/entry'))).toBe(false);
        expect(policy.revalidationHeaders(asked('/entry'))).toMatchObject({
          'if-none-match': answer.headers.etag,
        });
      }
    });

    it('counts the age of a hit as part of its life', async () => {
      const site = await start();
      await site.get('/entry');
      const hit = await site.get('/entry');
      const total = policyOf('/entry', hit, false).maxAge() - Number(hit.headers['age'] ?? 0);
      expect(total).toBeLessThanOrEqual(60);
      expect(total).toBeGreaterThan(30);
    });

    it('accepts the 304 as a renewal of what it has', async () => {
      const site = await start();
      const first = await site.get('/entry');
      const policy = policyOf('/entry', first, false);
      const headers = policy.revalidationHeaders(asked('/entry')) as Record<string, string>;
      const answer = await site.get('/entry', headers);
      expect(answer.status).toBe(304);
      const renewed = policy.revalidatedPolicy(asked('/entry', headers), {
        status: answer.status,
        headers: answer.headers,
      });
      expect(renewed).toMatchObject({ modified: false, matches: true });
      expect(renewed.policy.satisfiesWithoutRevalidation(asked('/entry'))).toBe(true);
      expect(runs).toBe(1);
    });

    it('does not take one language for another', async () => {
      const site = await start();
      const headers = { 'accept-language': 'de' };
      const policy = policyOf('/language', await site.get('/language', headers), false, headers);
      expect(policy.satisfiesWithoutRevalidation(asked('/language', headers))).toBe(true);
      expect(policy.satisfiesWithoutRevalidation(asked('/language', { 'accept-language': 'fr' }))).toBe(
        false,
      );
      expect(policy.satisfiesWithoutRevalidation(asked('/language'))).toBe(false);
    });

    it('by default keeps nothing in a shared cache, and reuses nothing unasked', async () => {
      const site = await start();
      const answer = await site.get('/default');
      expect(policyOf('/default', answer, true).storable()).toBe(false);
      const own = policyOf('/default', answer, false);
      expect(own.satisfiesWithoutRevalidation(asked('/default'))).toBe(false);
      const headers = own.revalidationHeaders(asked('/default')) as Record<string, string>;
      expect((await site.get('/default', headers)).status).toBe(304);
      expect(runs).toBe(1);
    });
  });
});
