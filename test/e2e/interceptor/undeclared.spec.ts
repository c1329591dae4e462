import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { deferred, type Deferred } from '../../support/deferred.js';
import { EVERYWHERE, host, isHit, PLATFORMS, type Reply, type Site } from './kit.js';

let runs = 0;
let gate: Deferred<void>;
beforeEach(() => {
  runs = 0;
  gate = deferred();
});

/** A request, as a handler finds it behind its response. */
interface Found {
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Express' response, and Fastify's reply with Node's response behind it. */
interface Behind extends Reply {
  readonly req?: Found;
  readonly request?: Found;
  readonly raw?: { readonly req: Found };
}

const requestOf = (response: Behind) => response.request ?? response.req;

@Controller('vary')
class Varied {
  @Get('undeclared')
  @CachedRoute()
  async undeclared(@Res({ passthrough: true }) response: Behind) {
    const country = response.raw?.req.headers['x-country'] ?? response.req?.headers['x-country'];
    const run = (runs += 1);
    await gate.promise;
    response.header('vary', 'Accept-Encoding, X-Country');
    return { run, country };
  }
  @Get('declared')
  @CachedRoute()
  declared(@Headers('x-country') country: string, @Res({ passthrough: true }) response: Reply) {
    response.header('vary', 'x-Country');
    return { run: (runs += 1), country };
  }
  @Get('by-inputs')
  @CachedRoute({ http: { inputs: { headers: ['x-country'] } } })
  byInputs(@Res({ passthrough: true }) response: Reply) {
    response.header('vary', 'X-Country');
    return { run: (runs += 1) };
  }
  @Get('keyed')
  @CachedRoute({ http: { key: () => 'one' } })
  keyed(@Res({ passthrough: true }) response: Reply) {
    response.header('vary', 'X-Country');
    return { run: (runs += 1) };
  }
  @Get('before')
  @CachedRoute()
  before(@Res({ passthrough: true }) response: Reply) {
    response.header('vary', 'Origin');
    return { run: (runs += 1) };
  }
}

@Controller('behind')
class Hidden {
  @Get('undeclared')
  @CachedRoute()
  async undeclared(@Res({ passthrough: true }) response: Behind) {
    const run = (runs += 1);
    await gate.promise;
    return { run, who: requestOf(response)?.query['who'] };
  }
  @Get('node')
  @CachedRoute()
  node(@Res({ passthrough: true }) response: Behind) {
    const { headers } = response.raw?.req ?? (response.req as Found);
    return { run: (runs += 1), who: headers['x-who'] };
  }
  @Get('sometimes')
  @CachedRoute()
  sometimes(@Query('hidden') hidden: string, @Res({ passthrough: true }) response: Behind) {
    return { run: (runs += 1), ...(hidden === 'yes' && { who: requestOf(response)?.query['who'] }) };
  }
  @Get('by-inputs')
  @CachedRoute({ http: { inputs: { query: ['who'] } } })
  byInputs(@Res({ passthrough: true }) response: Behind) {
    return { run: (runs += 1), who: requestOf(response)?.query['who'] };
  }
  @Get('keyed')
  @CachedRoute({ http: { key: () => 'one' } })
  keyed(@Res({ passthrough: true }) response: Behind) {
    return { run: (runs += 1), who: requestOf(response)?.query['who'] };
  }
}

/** Asks twice in turn. */
async function twice(site: Site, path: string, headers?: Readonly<Record<string, string>>) {
  const answers = [await site.get(path, headers), await site.get(path, headers)];
  return answers.map((answer) => ({
    run: (JSON.parse(answer.text) as { run: number }).run,
    hit: isHit(answer),
  }));
}
const SHARED = [
  { run: 1, hit: false },
  { run: 1, hit: true },
];
const EACH_ITS_OWN = [
  { run: 1, hit: false },
  { run: 2, hit: false },
];

describe.each(PLATFORMS)('What a handler reads and does not declare, on %s', (platform) => {
  const { serve } = host(platform);
  const start = () =>
    serve({
      controllers: [Varied, Hidden],
      providers: [EVERYWHERE],
      prepare: (app) =>
        void app.use((_: unknown, response: { setHeader(...of: string[]): void }, next: () => void) => {
          response.setHeader('vary', 'Origin');
          next();
        }),
    });

  describe('and names in Vary', () => {
    it('makes an answer for one request: who joined its load runs the handler', async () => {
      const site = await start();
      const all = ['at', 'de', 'fr'].map((country) => site.get('/vary/undeclared', { 'x-country': country }));
      await site.waiting(3);
      gate.resolve();
      const answers = await Promise.all(all);
      const bodies = answers.map(({ text }) => JSON.parse(text) as { run: number; country: string });
      expect(bodies.map(({ country }) => country)).toEqual(['at', 'de', 'fr']);
      expect(new Set(bodies.map(({ run }) => run))).toEqual(new Set([1, 2, 3]));
      expect([runs, site.stored]).toEqual([3, 0]);
      for (const { headers } of answers) {
        expect(headers.vary).toBe('Accept-Encoding, X-Country');
        expect(headers['cache-status']).toBe('stampede-cache; fwd=uri-miss; detail=vary');
      }
      expect(site.warnings(/./)).toEqual([
        expect.stringMatching(
          /^Varied\.undeclared: .*Vary: accept-encoding, x-country.*http\.inputs: \{ headers: \['accept-encoding', 'x-country'\] \}/,
        ),
      ]);
    });

    it.each(['declared', 'by-inputs', 'keyed', 'before'])(
      'is no reason where it is known: %s',
      async (path) => {
        const site = await start();
        expect(await twice(site, `/vary/${path}`, { 'x-country': 'at' })).toEqual(SHARED);
        expect(site.warnings(/Vary/)).toEqual([]);
      },
    );
  });

  describe('as it takes the request from its response', () => {
    it('makes an answer for one request: who joined its load runs the handler', async () => {
      const site = await start();
      const all = ['ann', 'bob', 'eve'].map((who) => site.get(`/behind/undeclared?who=${who}`));
      await site.waiting(3);
      gate.resolve();
      const answers = await Promise.all(all);
      const bodies = answers.map(({ text }) => JSON.parse(text) as { run: number; who: string });
      expect(bodies.map(({ who }) => who)).toEqual(['ann', 'bob', 'eve']);
      expect([runs, site.stored]).toEqual([3, 0]);
      expect(answers[0]?.headers['cache-status']).toBe('stampede-cache; fwd=uri-miss; detail=request');
      expect(site.warnings(/./)).toEqual([
        expect.stringMatching(/^Hidden\.undeclared: .*@Query\('x'\).*http\.inputs.*http\.key/),
      ]);
    });

    it("counts over Node's own response too", async () => {
      const site = await start();
      expect(await twice(site, '/behind/node')).toEqual(EACH_ITS_OWN);
    });

    it('concerns only the answers for which it did', async () => {
      const site = await start();
      expect(await twice(site, '/behind/sometimes?hidden=yes')).toEqual(EACH_ITS_OWN);
      runs = 0;
      expect(await twice(site, '/behind/sometimes?hidden=no')).toEqual(SHARED);
    });

    it.each(['by-inputs', 'keyed'])('is no reason where the route says what counts: %s', async (path) => {
      const site = await start();
      expect(await twice(site, `/behind/${path}?who=ann`)).toEqual(SHARED);
      expect(site.warnings(/./)).toEqual([]);
    });
  });
});
