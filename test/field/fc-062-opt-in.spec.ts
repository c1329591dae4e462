import { Controller, Get, Module } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { field } from './support/field.js';
import { EVERYWHERE, PLATFORMS, serve } from './support/http.js';

const here = field();

const runs: string[] = [];
beforeEach(() => void runs.splice(0));

@Controller('a')
class Marked {
  @Get()
  @CachedRoute()
  find() {
    runs.push('a');
    return 'a';
  }
  @Get('plain')
  plain() {
    runs.push('a/plain');
    return 'plain';
  }
}
@Module({ controllers: [Marked], providers: [EVERYWHERE] })
class A {}

@Controller('b')
class Plain {
  @Get()
  find() {
    runs.push('b');
    return 'b';
  }
}
@Module({ controllers: [Plain] })
class B {}

@Controller('health')
class Health {
  @Get()
  check() {
    runs.push('health');
    return { up: true };
  }
}
@Module({ controllers: [Health] })
class C {}

describe.each(PLATFORMS)('FC-062, on %s: an APP_INTERCEPTOR in one feature module', (platform) => {
  it('caches no route without a mark, in no module: no command, a run each time', async () => {
    const { url } = await serve(here, platform, { imports: [A, B, C] });
    const counts = await here.redis.countCommands(async () => {
      for (const path of ['a/plain', 'b', 'health', 'a/plain', 'b', 'health']) {
        const response = await fetch(`${url}/${path}`);
        expect([response.status, response.headers.get('cache-status')]).toEqual([200, null]);
      }
    });
    expect(runs).toEqual(['a/plain', 'b', 'health', 'a/plain', 'b', 'health']);
    // The connection's own heartbeat is none of a call.
    const { ping: _ping, publish: _publish, ...others } = counts;
    expect(others).toEqual({});
    expect(await here.entries()).toEqual([]);
  });

  it('caches the one with a mark', async () => {
    const { url } = await serve(here, platform, { imports: [A, B, C] });
    for (let i = 0; i < 2; i++) expect(await (await fetch(`${url}/a`)).text()).toBe('a');
    expect(runs).toEqual(['a']);
    expect(await here.entries()).toHaveLength(1);
  });
});
