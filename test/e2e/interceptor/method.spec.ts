import { Controller, Get, Injectable, Param, Post } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Cached, CachedRoute } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, PLATFORMS } from './kit.js';

/** A route that is also a cached method. */
@Controller('reports')
class Reports {
  runs = 0;

  @Get(':id')
  @Cached()
  async find(@Param('id') id: string) {
    this.runs += 1;
    return { id, run: this.runs };
  }

  @Post(':id')
  @Cached()
  async create(@Param('id') id: string) {
    this.runs += 1;
    return { id, run: this.runs };
  }
}

/** Calls the method as any class would, from a plain route and from a cached one. */
@Controller('others')
class Others {
  constructor(private readonly modules: ModuleRef) {}

  @Get('plain/:id')
  async plain(@Param('id') id: string) {
    return { of: await this.modules.get(Reports).find(id) };
  }

  @Get('cached/:id')
  @CachedRoute()
  async cached(@Param('id') id: string) {
    return { of: await this.modules.get(Reports).find(id) };
  }
}

@Injectable()
class Job {
  constructor(private readonly modules: ModuleRef) {}
  run(id: string) {
    return this.modules.get(Reports).find(id);
  }
}

describe.each(PLATFORMS)('A route whose method is @Cached itself, on %s', (platform) => {
  const { serve } = host(platform);
  const start = async () => {
    const site = await serve({ controllers: [Reports, Others], providers: [EVERYWHERE, Job] });
    return { site, reports: site.app.get(Reports), job: site.app.get(Job) };
  };

  it('is one load and one entry: the method steps aside for the interceptor', async () => {
    const { site, reports } = await start();
    for (let i = 0; i < 3; i++) expect((await site.get('/reports/1')).text).toBe('{"id":"1","run":1}');
    expect(reports.runs).toBe(1);
    expect(site.stored).toBe(1);
    expect(site.events.filter(({ type }) => type === 'load.start')).toHaveLength(1);
  });

  it('runs each time where the interceptor declines: a credential, another method', async () => {
    const { site, reports } = await start();
    const runs: string[] = [];
    for (let i = 0; i < 2; i++) {
      runs.push((await site.get('/reports/1', { authorization: `Bearer ${i}` })).text);
      runs.push((await site.ask('/reports/1', { method: 'POST' })).text);
    }
    expect(runs).toEqual([1, 2, 3, 4].map((run) => `{"id":"1","run":${run}}`));
    expect(reports.runs).toBe(4);
    expect(site.stored).toBe(0);
  });

  it('is cached as ever for other classes, which see its value and not its response', async () => {
    const { site, reports, job } = await start();
    expect(await job.run('1')).toEqual({ id: '1', run: 1 });
    expect(await job.run('1')).toEqual({ id: '1', run: 1 });
    expect(reports.runs).toBe(1);
    expect((await site.get('/reports/1')).text).toMatch(/^\{"id":"1","run":[12]\}$/);
    expect(await job.run('1')).toMatchObject({ id: '1' });
    expect(reports.runs).toBeLessThanOrEqual(2);
  });

  it.each(['plain', 'cached'])('is cached for a handler of a %s route that calls it', async (kind) => {
    const { site, reports, job } = await start();
    expect(await job.run('1')).toEqual({ id: '1', run: 1 });
    for (let i = 0; i < 2; i++) {
      expect((await site.get(`/others/${kind}/1`)).text).toBe('{"of":{"id":"1","run":1}}');
    }
    expect(reports.runs).toBe(1);
  });
});
