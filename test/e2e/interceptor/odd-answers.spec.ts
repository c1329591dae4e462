import { performance } from 'node:perf_hooks';
import { Controller, Get, Param, Res, StreamableFile } from '@nestjs/common';
import { concat, from, mergeMap, of, type Observable } from 'rxjs';
import { CachedRoute } from 'nestjs-stampede-cache';
import { deferred } from '../../support/deferred.js';
import { EVERYWHERE, host, isHit, PLATFORMS, type Reply, type Site } from './kit.js';

let runs = 0;
beforeEach(() => {
  runs = 0;
});

/** Answers as its id says. */
@Controller('odd')
class Odd {
  @Get('by-hand/:id')
  @CachedRoute({ ttl: '10m' })
  byHand(@Param('id') id: string, @Res({ passthrough: true }) response: Reply) {
    runs += 1;
    if (!id.startsWith('odd')) return { id };
    response.header('x-by', 'hand').send({ id });
  }
  @Get('file/:id')
  @CachedRoute({ ttl: '10m' })
  file(@Param('id') id: string): unknown {
    runs += 1;
    return id.startsWith('odd') ? new StreamableFile(Buffer.from(JSON.stringify({ id }))) : { id };
  }
  /** Its one value comes at once, its end a turn later. */
  @Get('slow-end/:id')
  @CachedRoute({ ttl: '10m' })
  slowEnd(@Param('id') id: string): Observable<unknown> {
    runs += 1;
    if (!id.startsWith('odd')) return of({ id });
    const turns = new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
    return concat(of({ id }), from(turns).pipe(mergeMap(() => [])));
  }
}

const ODD = ['by-hand', 'file', 'slow-end'];

describe.each(PLATFORMS)(
  'A handler that answers now and then as nobody else can have it, on %s',
  (platform) => {
    const { serve } = host(platform);
    const start = () => serve({ controllers: [Odd], providers: [EVERYWHERE] });
    let ahead = 0;
    beforeEach(() => {
      ahead = 0;
      const now = performance.now.bind(performance);
      jest.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
    });
    afterEach(() => void jest.restoreAllMocks());

    /** Whether answers for this id come from the cache. */
    async function isCached(site: Site, path: string): Promise<boolean> {
      const answers = [await site.get(path), await site.get(path)];
      const { id } = JSON.parse(answers[0]?.text ?? '') as { id: string };
      expect(answers.map(({ text }) => text)).toEqual([JSON.stringify({ id }), JSON.stringify({ id })]);
      return answers.some(isHit);
    }

    it.each(ODD)('/%s: the other ids stay cached', async (kind) => {
      const site = await start();
      for (const id of ['a', 'b', 'c']) {
        expect(await isCached(site, `/odd/${kind}/odd-${id}`)).toBe(false);
        expect(await isCached(site, `/odd/${kind}/${id}`)).toBe(true);
      }
      // Also what is stored already is one in between.
      for (let i = 0; i < 3; i++) {
        expect(await isCached(site, `/odd/${kind}/odd`)).toBe(false);
        expect(isHit(await site.get(`/odd/${kind}/a`))).toBe(true);
      }
      expect(site.warnings(/Odd\./)).toHaveLength(1);
    });

    it.each(ODD)(
      '/%s: after three in a row it is left alone for a minute, then tried again',
      async (kind) => {
        const site = await start();
        for (let i = 0; i < 3; i++) await site.get(`/odd/${kind}/odd`);
        expect(await isCached(site, `/odd/${kind}/a`)).toBe(false);
        ahead += 59_000;
        expect(await isCached(site, `/odd/${kind}/a`)).toBe(false);
        ahead += 1_000;
        expect(await isCached(site, `/odd/${kind}/a`)).toBe(true);
        expect(site.warnings(/Odd\./)).toHaveLength(1);
      },
    );

    it.each(ODD)('/%s: the first one after that minute is the fourth in a row', async (kind) => {
      const site = await start();
      for (let i = 0; i < 3; i++) await site.get(`/odd/${kind}/odd`);
      ahead += 60_000;
      await site.get(`/odd/${kind}/odd`);
      expect(await isCached(site, `/odd/${kind}/a`)).toBe(false);
      expect(site.warnings(/Odd\./)).toHaveLength(1);
    });

    it('is asked by each of those who waited for one that turned out so', async () => {
      const gate = deferred();
      @Controller('gated')
      class Gated {
        @Get()
        @CachedRoute()
        async find() {
          const run = (runs += 1);
          await gate.promise;
          return new StreamableFile(Buffer.from(`run ${run}`));
        }
      }
      const site = await serve({ controllers: [Gated], providers: [EVERYWHERE] });
      const all = Array.from({ length: 4 }, () => site.get('/gated'));
      await site.waiting(4);
      gate.resolve();
      const texts = (await Promise.all(all)).map(({ text }) => text);
      expect([...texts].sort()).toEqual(['run 1', 'run 2', 'run 3', 'run 4']);
    });
  },
);
