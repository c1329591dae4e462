import { Controller, Get, Injectable, Module, Post, UseInterceptors } from '@nestjs/common';
import { of } from 'rxjs';
import { Cached, CachedRoute, NoCache, StampedeCacheInterceptor } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, isHit, PLATFORMS } from './kit.js';

describe.each(PLATFORMS)('Which routes are cached on %s', (platform) => {
  const { serve } = host(platform);

  it('those that are marked, where the interceptor is bound to the handler', async () => {
    let runs = 0;
    @Controller()
    class Reports {
      @Get('bound')
      @CachedRoute()
      @UseInterceptors(StampedeCacheInterceptor)
      bound() {
        return { runs: (runs += 1) };
      }
      @Get('unbound')
      @CachedRoute()
      unbound() {
        return { runs: (runs += 1) };
      }
    }
    const site = await serve({ controllers: [Reports] });
    const [miss, hit] = [await site.get('/bound'), await site.get('/bound')];
    expect([miss.text, hit.text]).toEqual(['{"runs":1}', '{"runs":1}']);
    expect([isHit(miss), isHit(hit)]).toEqual([false, true]);
    expect([(await site.get('/unbound')).text, (await site.get('/unbound')).text]).toEqual([
      '{"runs":2}',
      '{"runs":3}',
    ]);
  });

  it('those that are marked, where it is bound to the controller; no other route changes', async () => {
    let runs = 0;
    @Controller()
    @UseInterceptors(StampedeCacheInterceptor)
    class Reports {
      @Get('marked')
      @CachedRoute()
      marked() {
        return (runs += 1);
      }
      @Get('plain')
      plain() {
        return (runs += 1);
      }
    }
    @Controller('bare')
    class Bare {
      @Get('plain')
      plain() {
        return 3;
      }
    }
    const site = await serve({ controllers: [Reports, Bare] });
    for (const expected of ['1', '1']) expect((await site.get('/marked')).text).toBe(expected);
    for (const expected of ['2', '3']) expect((await site.get('/plain')).text).toBe(expected);
    const names = async (path: string) => Object.keys((await site.get(path)).headers).sort();
    expect(await names('/plain')).toEqual(await names('/bare/plain'));
  });

  it('of all kinds, where it is global: @Cached and @CachedRoute, on a method or a class', async () => {
    const runs: string[] = [];
    const run = (name: string) => {
      runs.push(name);
      return name;
    };
    @Controller('methods')
    class Methods {
      @Get('cached')
      @Cached()
      async cached() {
        return run('cached');
      }
      @Get('value')
      @CachedRoute()
      value() {
        return run('value');
      }
      @CachedRoute({ ttl: '5m' })
      @Get('observable')
      observable() {
        return of(run('observable'));
      }
      @Get('promise')
      @CachedRoute({ ttl: '5m' })
      async promise() {
        return run('promise');
      }
    }
    @Controller('class')
    @CachedRoute({ ttl: '1m' })
    class Whole {
      @Get('inherits')
      inherits() {
        return run('inherits');
      }
      @Get('opts-out')
      @NoCache()
      optsOut() {
        return run('opts-out');
      }
    }
    const site = await serve({ controllers: [Methods, Whole], providers: [EVERYWHERE] });
    const cached = [
      'methods/cached',
      'methods/value',
      'methods/observable',
      'methods/promise',
      'class/inherits',
    ];
    for (const path of [...cached, 'class/opts-out']) {
      const answers = [await site.get(`/${path}`), await site.get(`/${path}`)];
      expect(answers.map(({ text }) => text)).toEqual(Array(2).fill(path.split('/')[1]));
      expect([path, isHit(answers[1] as never)]).toEqual([path, cached.includes(path)]);
    }
    expect(runs).toEqual([
      ...['cached', 'value', 'observable', 'promise', 'inherits'],
      ...['opts-out', 'opts-out'],
    ]);
  });

  it("with the handler's policy before the class's", async () => {
    let runs = 0;
    @Controller()
    @CachedRoute({ ttl: '1m' })
    class Reports {
      @Get('never')
      @CachedRoute({ ttl: 0 })
      never() {
        return (runs += 1);
      }
    }
    const site = await serve({ controllers: [Reports], providers: [EVERYWHERE] });
    expect([(await site.get('/never')).text, (await site.get('/never')).text]).toEqual(['1', '2']);
    expect(site.stored).toBe(0);
  });

  it('none but GET and HEAD: the others run each time', async () => {
    let runs = 0;
    @Controller('reports')
    @CachedRoute()
    class Reports {
      @Get()
      list() {
        return 'list';
      }
      @Post()
      create() {
        return (runs += 1);
      }
    }
    const site = await serve({ controllers: [Reports], providers: [EVERYWHERE] });
    await site.get('/reports');
    const stored = site.stored;
    const posts = [
      await site.ask('/reports', { method: 'POST', body: {} }),
      await site.ask('/reports', { method: 'POST', body: {} }),
    ];
    expect(posts.map(({ status, text }) => [status, text])).toEqual([
      [201, '1'],
      [201, '2'],
    ]);
    expect(site.stored).toBe(stored);
    expect((await site.get('/reports')).text).toBe('list');
  });

  it('but not those that only live beside one in the application', async () => {
    let runs = 0;
    @Controller('health')
    class Health {
      @Get()
      check() {
        return (runs += 1);
      }
    }
    @Injectable()
    class Nothing {}
    @Module({ providers: [EVERYWHERE, Nothing] })
    class Feature {}
    const site = await serve({ controllers: [Health], imports: [Feature] });
    expect([(await site.get('/health')).text, (await site.get('/health')).text]).toEqual(['1', '2']);
    expect(site.events).toEqual([]);
  });
});
