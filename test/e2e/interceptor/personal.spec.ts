import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { deferred, type Deferred } from '../../support/deferred.js';
import { RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';
import { EVERYWHERE, host, isHit, PLATFORMS, type Answer, type Reply, type Site } from './kit.js';

const CLIENTS = 5;

let runs = 0;
let gate: Deferred<void>;
beforeEach(() => {
  runs = 0;
  gate = deferred();
});

/** Answers with the number of its run, in the body and in a header, which a 304 has too. */
async function run(response: Reply, prepare: (response: Reply) => void) {
  const mine = (runs += 1);
  await gate.promise;
  prepare(response.header('x-run', String(mine)));
  return { run: mine };
}

const control = (response: Reply, id: string) => {
  if (id === 'vary') response.header('vary', '*');
  else if (id !== 'shared') response.header('cache-control', id);
};
const KEY = { key: () => 'a key' };

@Controller()
class Pages {
  @Get('control/:id')
  @CachedRoute()
  control(@Param('id') id: string, @Res({ passthrough: true }) response: Reply) {
    return run(response, () => control(response, id));
  }
  @Get('keyed/:id')
  @CachedRoute({ http: KEY })
  keyed(@Param('id') id: string, @Res({ passthrough: true }) response: Reply) {
    return run(response, () => control(response, id));
  }
  @Get('status/:status')
  @CachedRoute()
  status(@Param('status') status: string, @Res({ passthrough: true }) response: Reply) {
    return run(response, () => response.status(Number(status)));
  }
  @Get('listed/:status')
  @CachedRoute({ http: { statuses: [206, 304, 401, 403, 407, 412, 416, 428, 429] } })
  listed(@Param('status') status: string, @Res({ passthrough: true }) response: Reply) {
    return run(response, () => response.status(Number(status)));
  }
  @Get('any/:status')
  @CachedRoute({ http: { statuses: () => true } })
  any(@Param('status') status: string, @Res({ passthrough: true }) response: Reply) {
    return run(response, () => response.status(Number(status)));
  }
  @Get('range')
  @CachedRoute()
  range(@Headers('range') range: string, @Res({ passthrough: true }) response: Reply) {
    return run(response, () => response.status(206).header('content-range', `${range}/9`));
  }
}

/** Asks together, so that all but one join a load. */
async function together(site: Site, path: string): Promise<Answer[]> {
  const all = Array.from({ length: CLIENTS }, () => site.get(path));
  await site.waiting(CLIENTS);
  gate.resolve();
  return Promise.all(all);
}

const runsOf = (answers: readonly Answer[]) =>
  answers.map(({ headers }) => Number(headers['x-run'])).sort((a, b) => a - b);
const EACH_ITS_OWN = Array.from({ length: CLIENTS }, (_, at) => at + 1);
const ONE_FOR_ALL = Array.from({ length: CLIENTS }, () => 1);

describe.each(PLATFORMS)('An answer for the request alone that it was made for, on %s', (platform) => {
  const { serve } = host(platform);
  const start = () => serve({ controllers: [Pages], providers: [EVERYWHERE] });

  describe.each([
    ['control', 'no-store'],
    ['control', 'private, max-age=5'],
    ['control', 'vary'],
    ['keyed', 'no-store'],
    ['keyed', 'vary'],
  ])('/%s/%s', (route, id) => {
    const path = `/${route}/${encodeURIComponent(id)}`;

    it('who joined its load runs the handler', async () => {
      const site = await start();
      const answers = await together(site, path);
      expect(runsOf(answers)).toEqual(EACH_ITS_OWN);
      for (const { status, text, headers } of answers) {
        expect([status, text]).toEqual([200, JSON.stringify({ run: Number(headers['x-run']) })]);
        expect(headers['cache-control']).toBe(id === 'vary' ? 'private, no-cache' : id);
        expect(headers['cache-status']).toMatch(/^stampede-cache; fwd=uri-miss; detail=\S+$/);
      }
      expect([runs, site.stored, site.warnings(/./)]).toEqual([CLIENTS, 0, []]);
    });

    it('is not stored; the rest of the route is cached', async () => {
      const site = await start();
      gate.resolve();
      expect(runsOf([await site.get(path), await site.get(path)])).toEqual([1, 2]);
      const others = [await site.get(`/${route}/shared`), await site.get(`/${route}/shared`)];
      expect([runsOf(others), others.map(isHit)]).toEqual([
        [3, 3],
        [false, true],
      ]);
    });
  });

  it('is no `private` one where the route has a key of its own', async () => {
    const site = await start();
    const answers = await together(site, '/keyed/private');
    expect([runsOf(answers), site.stored]).toEqual([ONE_FOR_ALL, 1]);
  });

  describe.each([206, 304, 401, 403, 407, 412, 416, 428, 429])('with status %i', (status) => {
    it.each(['status', 'any'])('is so where no list names it: /%s', async (route) => {
      const site = await start();
      const answers = await together(site, `/${route}/${status}`);
      expect(runsOf(answers)).toEqual(EACH_ITS_OWN);
      expect(answers.map((answer) => answer.status)).toEqual(ONE_FOR_ALL.map(() => status));
      expect(site.stored).toBe(0);
    });

    it('is shared and stored where a list names it', async () => {
      const site = await start();
      const answers = await together(site, `/listed/${status}`);
      expect(runsOf(answers)).toEqual(ONE_FOR_ALL);
      const hit = await site.get(`/listed/${status}`);
      expect([hit.status, isHit(hit), site.stored]).toEqual([status, true, 1]);
    });
  });

  it.each([302, 404, 500])('is none with status %i: not stored, one run for all who wait', async (status) => {
    const site = await start();
    const answers = await together(site, `/status/${status}`);
    expect([runsOf(answers), site.stored]).toEqual([ONE_FOR_ALL, 0]);
  });

  it('is no part of a body where the range is declared: one entry for each', async () => {
    const site = await start();
    gate.resolve();
    const answers: Answer[] = [];
    for (const range of ['bytes=0-1', 'bytes=0-1', 'bytes=2-3']) {
      answers.push(await site.get('/range', { range }));
    }
    expect(answers.map(isHit)).toEqual([false, true, false]);
    expect(answers.map(({ status, headers }) => [status, headers['content-range']])).toEqual([
      [206, 'bytes=0-1/9'],
      [206, 'bytes=0-1/9'],
      [206, 'bytes=2-3/9'],
    ]);
  });
});

describe.each(PLATFORMS)('An answer for one request, asked for in two applications on %s', (platform) => {
  const { serve } = host(platform);
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('reaches nobody in the other one: who waited there runs the handler', async () => {
    const cache = { redis: server.url, namespace: 'shop' };
    const start = () => serve({ controllers: [Pages], providers: [EVERYWHERE], cache });
    const [here, there] = [await start(), await start()];
    const first = here.get('/control/no-store');
    await until(() => runs === 1, { what: 'the handler to run' });
    const others = Array.from({ length: CLIENTS - 1 }, () => there.get('/control/no-store'));
    await there.waiting(CLIENTS - 1);
    await until(() => there.events.some(({ type }) => type === 'wait.start'), { what: 'a wait' });
    expect(runs).toBe(1);
    gate.resolve();
    const answers = await Promise.all([first, ...others]);
    expect(runsOf(answers)).toEqual(EACH_ITS_OWN);
    for (const { headers } of answers) expect(headers['cache-control']).toBe('no-store');
    expect([here.stored, there.stored]).toEqual([0, 0]);
  });
});
