import {
  Body,
  Controller,
  Get,
  Headers,
  Ip,
  Query,
  Req,
  Scope,
  Session,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { Cached, CachedRoute, NoCache, StampedeCacheInterceptor } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, PLATFORMS, type Incoming } from './kit.js';

/** The same handler with an input that says too little, and with a word on what it reads. */
type Case = [what: string, named: RegExp, ill: () => Type, cures: readonly (() => Type)[]];

const byName = { http: { inputs: { headers: ['x-tenant'] } } } as const;
const byKey = { http: { key: () => 'one' } } as const;

function withReq(options: object): Type {
  @Controller('reports')
  class Reports {
    @Get()
    @CachedRoute(options)
    find(@Req() request: Incoming) {
      return request.headers['x-tenant'] ?? 'none';
    }
  }
  return Reports;
}

function withSession(options: object): Type {
  @Controller('reports')
  class Reports {
    @Get()
    @CachedRoute(options)
    find(@Session() _session: unknown) {
      return 'none';
    }
  }
  return Reports;
}

function withIp(options: object): Type {
  @Controller('reports')
  class Reports {
    @Get()
    @CachedRoute(options)
    find(@Ip() _ip: string) {
      return 'none';
    }
  }
  return Reports;
}

function withHeaders(options: object): Type {
  @Controller('reports')
  class Reports {
    @Get()
    @CachedRoute(options)
    find(@Headers() headers: Record<string, string>) {
      return headers['x-tenant'] ?? 'none';
    }
  }
  return Reports;
}

function withBody(options: object): Type {
  @Controller('reports')
  class Reports {
    @Get()
    @CachedRoute(options)
    find(@Body() _body: unknown) {
      return 'none';
    }
  }
  return Reports;
}

function perRequest(options: object): Type {
  @Controller({ path: 'reports', scope: Scope.REQUEST })
  class Reports {
    @Get()
    @CachedRoute(options)
    find(@Query('page') page?: string) {
      return page ?? 'none';
    }
  }
  return Reports;
}

const cases = [
  ['@Req()', /@Req\(\)/, withReq, { headers: ['x-tenant'] }],
  ['@Session()', /@Session\(\)/, withSession, { session: ['userId'] }],
  ['@Ip()', /@Ip\(\)/, withIp, { ip: true }],
  ['a whole @Headers()', /@Headers\(\)/, withHeaders, { headers: ['x-tenant'] }],
  ['a whole @Body()', /@Body\(\)/, withBody, { body: ['filter'] }],
  ['a request-scoped controller', /request.scoped|scope/i, perRequest, { query: ['page'] }],
] as const;
const CASES = cases.map(([what, named, make, inputs]): Case => {
  return [what, named, () => make({}), [() => make({ http: { inputs } }), () => make(byKey)]];
});

describe.each(PLATFORMS)('A marked handler with inputs that nobody can tell apart, on %s', (platform) => {
  const { serve, bootError } = host(platform);

  describe.each(CASES)('%s', (_what, named, ill, cures) => {
    it('does not start; the error names class, method, input and both ways out', async () => {
      const error = await bootError({ controllers: [ill()], providers: [EVERYWHERE] });
      expect(error.name).toBe('ConfigurationError');
      expect(error.message).toMatch(/Reports\.find\b/);
      expect(error.message).toMatch(named);
      expect(error.message).toContain('http.key');
      expect(error.message).toContain('http.inputs');
    });

    it('starts, and is cached, with http.inputs or http.key', async () => {
      for (const cure of cures) {
        const site = await serve({ controllers: [cure()], providers: [EVERYWHERE] });
        const answers = [await site.get('/reports'), await site.get('/reports')];
        expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([200, 'none']));
        expect(site.cache.stats().outcomes).toMatchObject({ loaded: 1, fresh: 1 });
      }
    });
  });

  it('is told apart by what http.inputs names', async () => {
    const site = await serve({ controllers: [withReq(byName)], providers: [EVERYWHERE] });
    const texts: string[] = [];
    for (const tenant of ['a', 'b', 'a'])
      texts.push((await site.get('/reports', { 'x-tenant': tenant })).text);
    expect(texts).toEqual(['a', 'b', 'a']);
    expect(site.stored).toBe(2);
  });

  it('starts where it has opted out, or where a method is meant that is no handler', async () => {
    @Controller('reports')
    @CachedRoute()
    class Reports {
      @Get()
      @NoCache()
      find(@Req() request: Incoming) {
        return request.headers['x-tenant'] ?? 'none';
      }
      helper(request: Incoming) {
        return request;
      }
    }
    const site = await serve({ controllers: [Reports], providers: [EVERYWHERE] });
    expect((await site.get('/reports', { 'x-tenant': 'a' })).text).toBe('a');
    expect(site.stored).toBe(0);
  });

  it('is the same with @Cached, whose `key` is for direct calls alone', async () => {
    @Controller('reports')
    @UseInterceptors(StampedeCacheInterceptor)
    class Reports {
      @Get()
      @Cached({ key: (request: Incoming) => request.headers['x-tenant'] ?? '' })
      async find(@Req() request: Incoming) {
        return request.headers['x-tenant'] ?? 'none';
      }
    }
    const { message } = await bootError({ controllers: [Reports] });
    expect(message).toMatch(/Reports\.find\b/);
    expect(message).toContain('http.key');
  });

  it('has to have a ttl, of its own or of the module', async () => {
    @Controller('reports')
    class Reports {
      @Get()
      @CachedRoute()
      find() {
        return 'none';
      }
    }
    const options = { controllers: [Reports], providers: [EVERYWHERE] };
    const { message } = await bootError({ ...options, cache: { policy: { ttl: undefined } } });
    expect(message).toMatch(/Reports\.find\b.*ttl/s);
  });
});
