import { Controller, ForbiddenException, Get, NotFoundException, Res } from '@nestjs/common';
import { of } from 'rxjs';
import { CachedRoute } from 'nestjs-stampede-cache';
import { deferred, type Deferred } from '../../support/deferred.js';
import { EVERYWHERE, host, isHit, PLATFORMS, type Answer, type Reply } from './kit.js';

const CLIENTS = 3;

let runs = 0;
let gate: Deferred<void>;
beforeEach(() => {
  runs = 0;
  gate = deferred();
});

/** Without marks. */
@Controller('bare')
class Bare {
  @Get('error')
  async error(): Promise<unknown> {
    const run = (runs += 1);
    await gate.promise;
    return new Error(`run ${run}`);
  }
  @Get('http')
  async http(@Res({ passthrough: true }) response: Reply): Promise<unknown> {
    runs += 1;
    response.header('x-own', 'yes');
    await gate.promise;
    return new ForbiddenException({ reason: 'yours alone' });
  }
  @Get('subclass')
  async subclass(): Promise<unknown> {
    runs += 1;
    await gate.promise;
    return Object.assign(new RangeError('no'), { statusCode: 418, detail: [1] });
  }
  @Get('observable')
  async observable(): Promise<unknown> {
    runs += 1;
    await gate.promise;
    return of(new NotFoundException());
  }
}

@Controller()
@CachedRoute()
class Marked extends Bare {}

/** All that is the answer's own. */
const ownOf = ({ status, headers: { date: _date, ...headers }, text }: Answer) => ({ status, headers, text });

describe.each(PLATFORMS)('A handler that returns an error, on %s', (platform) => {
  const { serve } = host(platform);
  const start = () => serve({ controllers: [Bare, Marked], providers: [EVERYWHERE] });

  it.each(['error', 'http', 'subclass', 'observable'])('/%s: as without the module', async (path) => {
    const site = await start();
    gate.resolve();
    const expected = ownOf(await site.get(`/bare/${path}`));
    for (let i = 0; i < 2; i++) {
      runs = 0;
      const answer = await site.get(`/${path}`);
      expect([ownOf(answer), isHit(answer), runs]).toEqual([expected, false, 1]);
    }
    expect([site.stored, site.warnings(/./)]).toEqual([0, []]);
  });

  it.each(['error', 'http'])('/%s: who joined its load runs the handler', async (path) => {
    const site = await start();
    const all = Array.from({ length: CLIENTS }, () => site.get(`/${path}`));
    await site.waiting(CLIENTS);
    gate.resolve();
    await Promise.all(all);
    expect([runs, site.stored]).toEqual([CLIENTS, 0]);
  });
});
