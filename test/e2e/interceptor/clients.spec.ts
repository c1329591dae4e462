import { ConflictException, Controller, Get, NotFoundException, Param, Res } from '@nestjs/common';
import { CachedRoute, notFound } from 'nestjs-stampede-cache';
import { deferred } from '../../support/deferred.js';
import { Origin } from '../../support/origin.js';
import { until } from '../../support/until.js';
import { EVERYWHERE, host, isHit, PLATFORMS, shared, type Reply } from './kit.js';

const CLIENTS = 20;
const many = <T>(call: () => Promise<T>): Promise<T>[] => Array.from({ length: CLIENTS }, call);

describe.each(PLATFORMS)('Clients who ask for one route together on %s', (platform) => {
  const { serve } = host(platform);

  it('get one run, with its status and headers', async () => {
    const origin = new Origin();
    @Controller('reports')
    class Reports {
      @Get()
      @CachedRoute()
      async find(@Res({ passthrough: true }) response: Reply) {
        const value = await origin.load();
        response.status(203).header('x-run', String(origin.starts));
        return value;
      }
    }
    const site = await serve({ controllers: [Reports], providers: [EVERYWHERE] });
    const all = many(() => site.get('/reports'));
    await site.waiting(CLIENTS);
    await origin.give({ a: 1 });
    const answers = await Promise.all(all);
    expect(answers[0]).toMatchObject({ status: 203, text: '{"a":1}', headers: { 'x-run': '1' } });
    for (const answer of answers) expect(shared(answer)).toEqual(shared(answers[0] as never));
    expect(origin.starts).toBe(1);
    const collapsed = answers.filter(({ headers }) => /; ?collapsed/.test(String(headers['cache-status'])));
    expect(collapsed).toHaveLength(CLIENTS - 1);
  });

  it('get the very HttpException of that run, which is not stored', async () => {
    const origin = new Origin();
    @Controller('reports')
    class Reports {
      @Get()
      @CachedRoute()
      find() {
        return origin.load();
      }
    }
    const site = await serve({ controllers: [Reports], providers: [EVERYWHERE] });
    const all = many(() => site.get('/reports'));
    await site.waiting(CLIENTS);
    const error = new ConflictException({ statusCode: 409, reason: 'busy', details: [1] });
    await origin.fail(error);
    for (const { status, text } of await Promise.all(all)) {
      expect([status, text]).toEqual([409, '{"statusCode":409,"reason":"busy","details":[1]}']);
    }
    expect(site.errors).toHaveLength(CLIENTS);
    expect(new Set(site.errors)).toEqual(new Set([error]));
    expect(site.errors.every((each) => each === error)).toBe(true);
    expect([origin.starts, site.stored]).toEqual([1, 0]);
    const next = site.get('/reports');
    await origin.give('well');
    expect((await next).text).toBe('well');
  });

  it('get a 500 without a word of the error, once for all of them', async () => {
    let runs = 0;
    const gate = deferred();
    @Controller('reports')
    class Reports {
      @Get()
      @CachedRoute()
      async find() {
        runs += 1;
        await gate.promise;
        throw new Error('secret');
      }
    }
    const site = await serve({ controllers: [Reports], providers: [EVERYWHERE] });
    const all = many(() => site.get('/reports'));
    await site.waiting(CLIENTS);
    gate.resolve();
    for (const { status, text } of await Promise.all(all)) {
      expect([status, JSON.parse(text)]).toEqual([
        500,
        { statusCode: 500, message: 'Internal server error' },
      ]);
    }
    expect(runs).toBe(1);
  });

  it('get a stored 404 where negativeErrors says so', async () => {
    let runs = 0;
    @Controller('products')
    class Products {
      @Get(':id')
      @CachedRoute({ negativeErrors: notFound })
      find(@Param('id') id: string) {
        runs += 1;
        throw new NotFoundException(`no ${id}`);
      }
    }
    const site = await serve({ controllers: [Products], providers: [EVERYWHERE] });
    for (let i = 0; i < 3; i++) {
      expect(await site.get('/products/1')).toMatchObject({
        status: 404,
        text: '{"message":"no 1","error":"Not Found","statusCode":404}',
      });
    }
    expect(runs).toBe(1);
  });

  it('lose nothing when the one that came first leaves', async () => {
    const origin = new Origin();
    @Controller('reports')
    class Reports {
      @Get()
      @CachedRoute()
      find() {
        return origin.load();
      }
    }
    const site = await serve({ controllers: [Reports], providers: [EVERYWHERE] });
    const leader = site.leaving('/reports');
    await origin.started(1);
    const followers = many(() => site.get('/reports'));
    await site.waiting(CLIENTS + 1);
    leader.leave();
    await expect(leader.answer).rejects.toThrow('socket hang up');
    await origin.give('value');
    for (const { status, text } of await Promise.all(followers))
      expect([status, text]).toEqual([200, 'value']);
    expect(origin.starts).toBe(1);
    expect((await site.get('/reports')).text).toBe('value');
  });

  it('find the answer that all who asked for it did not wait for', async () => {
    const origin = new Origin();
    @Controller('reports')
    class Reports {
      @Get()
      @CachedRoute()
      find() {
        return origin.load();
      }
    }
    const site = await serve({ controllers: [Reports], providers: [EVERYWHERE] });
    const alone = site.leaving('/reports');
    await origin.started(1);
    alone.leave();
    await expect(alone.answer).rejects.toThrow('socket hang up');
    await origin.give('value');
    await until(() => site.stored === 1, { what: 'the response to be stored' });
    const hit = await site.get('/reports');
    expect([hit.text, isHit(hit), origin.starts]).toEqual(['value', true, 1]);
  });

  it('are told when to come again, where the load takes too long', async () => {
    @Controller('reports')
    class Reports {
      @Get()
      @CachedRoute({ loadTimeout: '20ms' })
      find() {
        return new Promise<never>(() => undefined);
      }
    }
    const site = await serve({ controllers: [Reports], providers: [EVERYWHERE] });
    const { status, headers, text } = await site.get('/reports');
    expect([status, JSON.parse(text)]).toEqual([503, expect.objectContaining({ statusCode: 503 })]);
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
  });

  it('are told when to come again, where too many loads are under way', async () => {
    const origin = new Origin();
    @Controller('reports')
    class Reports {
      @Get(':id')
      @CachedRoute()
      find(@Param('id') _id: string) {
        return origin.load();
      }
    }
    const cache = { loads: { concurrency: 1, queue: 0 } };
    const site = await serve({ controllers: [Reports], providers: [EVERYWHERE], cache });
    const served = site.get('/reports/1');
    await origin.started(1);
    const { status, headers } = await site.get('/reports/2');
    expect([status, headers['retry-after']]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)]);
    await origin.give('value');
    expect((await served).text).toBe('value');
  });
});
