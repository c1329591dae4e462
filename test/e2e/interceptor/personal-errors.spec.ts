import { Controller, ForbiddenException, Get, HttpException, Param, Res } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { deferred, type Deferred } from '../../support/deferred.js';
import { EVERYWHERE, host, PLATFORMS, type Reply } from './kit.js';

let runs = 0;
let gate: Deferred<void>;
beforeEach(() => {
  runs = 0;
  gate = deferred();
});

interface Found {
  readonly headers: Readonly<Record<string, string | undefined>>;
}
/** Express' response, and Fastify's reply. */
interface Behind extends Reply {
  readonly req?: Found;
  readonly request?: Found;
}

const NEGATIVE = { negativeErrors: [HttpException], negativeTtl: '1m' } as const;

@Controller()
class Pages {
  @Get('who')
  @CachedRoute(NEGATIVE)
  async who(@Res({ passthrough: true }) response: Behind) {
    const role = (response.request ?? response.req)?.headers['x-role'];
    await gate.promise;
    if (role !== 'admin') throw new ForbiddenException(`not for ${role}`);
    return { role };
  }

  @Get('limit/:control')
  @CachedRoute(NEGATIVE)
  async limit(@Param('control') control: string, @Res({ passthrough: true }) response: Reply) {
    const run = (runs += 1);
    await gate.promise;
    if (control !== 'none') response.header('cache-control', control);
    throw new HttpException(`run ${run}`, 429);
  }
}

describe.each(PLATFORMS)('An error for the request alone whose handler threw it, on %s', (platform) => {
  const { serve } = host(platform);
  const start = () => serve({ controllers: [Pages], providers: [EVERYWHERE] });

  it('is nobody else’s where the handler looked at its own request', async () => {
    const site = await start();
    const guest = site.get('/who', { 'x-role': 'guest' });
    await site.waiting(1);
    const admin = site.get('/who', { 'x-role': 'admin' });
    await site.waiting(2);
    gate.resolve();
    const answers = [await guest, await admin, await site.get('/who', { 'x-role': 'admin' })];
    expect(answers.map(({ status }) => status)).toEqual([403, 200, 200]);
    expect(answers[0]?.text).toContain('not for guest');
    expect(site.warnings(/takes the request from its response/)).toHaveLength(1);
  });

  it.each(['no-store', 'private'])('is nobody else’s after Cache-Control: %s', async (control) => {
    const site = await start();
    const all = [1, 2, 3].map(() => site.get(`/limit/${control}`));
    await site.waiting(3);
    gate.resolve();
    const answers = await Promise.all(all);
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 429]);
    expect(answers.map(({ headers }) => headers['cache-control'])).toEqual([control, control, control]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(3);
    expect(site.stored).toBe(0);
  });

  it('is everybody’s where nothing says so', async () => {
    const site = await start();
    const all = [1, 2, 3].map(() => site.get('/limit/none'));
    await site.waiting(3);
    gate.resolve();
    const answers = await Promise.all(all);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(runs).toBe(1);
  });
});
