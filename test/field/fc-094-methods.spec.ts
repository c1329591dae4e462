import { Controller, Delete, Get, Patch, Post, Put } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { field } from './support/field.js';
import { EVERYWHERE, PLATFORMS, listen } from './support/http.js';

const here = field();
const BODY = JSON.stringify({ name: 'boots', text: 'x'.repeat(500) });

const runs: string[] = [];
beforeEach(() => void runs.splice(0));

@Controller('product')
@CachedRoute()
class Products {
  @Get()
  get() {
    runs.push('GET');
    return { name: 'boots', text: 'x'.repeat(500) };
  }
  @Post()
  post() {
    runs.push('POST');
    return 'POST';
  }
  @Put()
  put() {
    runs.push('PUT');
    return 'PUT';
  }
  @Patch()
  patch() {
    runs.push('PATCH');
    return 'PATCH';
  }
  @Delete()
  delete() {
    runs.push('DELETE');
    return 'DELETE';
  }
}

describe.each(PLATFORMS)('FC-094, on %s: methods on one path', (platform) => {
  const start = async () => {
    const metadata = here.withCache({ controllers: [Products], providers: [EVERYWHERE] });
    const { url } = await listen(here, platform, metadata);
    return async (method: string) => {
      const response = await fetch(`${url}/product`, { method });
      const { headers } = response;
      return { status: response.status, text: await response.text(), type: headers.get('content-type') };
    };
  };

  it.each([
    ['HEAD', 'GET', 'GET', 'HEAD'],
    ['GET', 'HEAD', 'HEAD', 'GET'],
  ])('%s, then %s, …: a GET has its body, a HEAD has the headers of a GET', async (...methods) => {
    const ask = await start();
    for (const method of methods) {
      expect(await ask(method)).toEqual({
        status: 200,
        text: method === 'GET' ? BODY : '',
        type: expect.stringContaining('application/json'),
      });
    }
    // A HEAD may be answered by its own run, never a GET by its entry.
    expect(runs.length).toBeLessThanOrEqual(2);
    expect((await here.entries()).length).toBeLessThanOrEqual(2);
  });

  it('the others neither read nor write the cache, with a cold and with a warm entry', async () => {
    const ask = await start();
    for (let i = 0; i < 2; i++) {
      const before = await here.entries();
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        expect((await ask(method)).text).toBe(method);
      }
      await ask('OPTIONS');
      expect(await here.entries()).toEqual(before);
      expect((await ask('GET')).text).toBe(BODY);
    }
    const count = (method: string) => runs.filter((run) => run === method).length;
    expect(['POST', 'PUT', 'PATCH', 'DELETE', 'GET'].map(count)).toEqual([2, 2, 2, 2, 1]);
  });
});
