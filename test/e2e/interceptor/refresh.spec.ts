import { Controller, Get, Header, Res } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { Origin } from '../../support/origin.js';
import { until } from '../../support/until.js';
import { EVERYWHERE, host, isHit, PLATFORMS, type Reply } from './kit.js';

const unhandled: unknown[] = [];
const keep = (error: unknown) => void unhandled.push(error);
beforeAll(() => {
  process.on('unhandledRejection', keep);
});
afterAll(() => {
  process.off('unhandledRejection', keep);
});

describe.each(PLATFORMS)('A response that is refreshed behind its clients on %s', (platform) => {
  const { serve } = host(platform);

  async function start() {
    const origin = new Origin();
    const marks: string[] = [];
    @Controller('reports')
    class Reports {
      @Get()
      @Header('x-fixed', 'yes')
      @CachedRoute({ stale: '1m', tags: ['reports'] })
      async find(@Res({ passthrough: true }) response: Reply) {
        response.header('x-run', String(origin.starts + 1));
        const value = await origin.load();
        response.status(203).header('x-late', String(value));
        marks.push(String(value));
        return { value };
      }
    }
    const site = await serve({ controllers: [Reports], providers: [EVERYWHERE] });
    return { site, origin, marks };
  }

  it('is served stale at once; the refresh sets its headers long after that answer is gone', async () => {
    const { site, origin, marks } = await start();
    const first = site.get('/reports');
    await origin.give('one');
    expect(await first).toMatchObject({
      status: 203,
      headers: { 'x-run': '1', 'x-late': 'one', 'x-fixed': 'yes' },
    });
    await until(() => site.stored === 1, { what: 'the first response to be stored' });
    await site.cache.expireTags('reports');

    const stale = await site.get('/reports');
    expect(stale).toMatchObject({
      status: 203,
      text: '{"value":"one"}',
      headers: { 'x-run': '1', 'x-late': 'one' },
    });
    expect(isHit(stale)).toBe(true);
    await origin.started(2);
    await origin.give('two');
    await until(() => site.stored === 2, { what: 'the refresh to be stored' });
    expect(marks).toEqual(['one', 'two']);

    const fresh = await site.get('/reports');
    expect(fresh).toMatchObject({
      status: 203,
      text: '{"value":"two"}',
      headers: { 'x-run': '2', 'x-late': 'two', 'x-fixed': 'yes' },
    });
    expect(origin.starts).toBe(2);
    expect(site.errors).toEqual([]);
    expect(unhandled).toEqual([]);
  });

  it('stays when the refresh fails, and nobody hears of it', async () => {
    const { site, origin } = await start();
    const first = site.get('/reports');
    await origin.give('one');
    await first;
    await until(() => site.stored === 1, { what: 'the first response to be stored' });
    await site.cache.expireTags('reports');
    expect((await site.get('/reports')).text).toBe('{"value":"one"}');
    await origin.started(2);
    await origin.fail(new Error('down'));
    await until(() => site.events.some(({ type }) => type === 'load.error'), { what: 'the refresh to fail' });
    expect(await site.get('/reports')).toMatchObject({ status: 203, headers: { 'x-late': 'one' } });
    expect(site.errors).toEqual([]);
    expect(unhandled).toEqual([]);
  });
});
