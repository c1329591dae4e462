import { Controller, Get } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { Origin } from '../support/origin.js';
import { until } from '../support/until.js';
import { errorOf, times } from './support/conditions.js';
import { field } from './support/field.js';
import { EVERYWHERE, PLATFORMS, serve } from './support/http.js';

const here = field();
const FOLLOWERS = 20;

const origin = { now: new Origin() };
beforeEach(() => {
  origin.now = new Origin();
});

@Controller('report')
class Reports {
  @Get()
  @CachedRoute()
  report() {
    return origin.now.load();
  }
}

const options = { controllers: [Reports], providers: [EVERYWHERE] };

describe.each(PLATFORMS)('FC-053, on %s: the request that runs a cached handler is dropped', (platform) => {
  const drop = async (url: string) => {
    const client = new AbortController();
    const gone = errorOf(fetch(url, { signal: client.signal, headers: { connection: 'close' } }));
    await origin.now.started(1);
    return async () => {
      client.abort();
      expect((await gone).name).toBe('AbortError');
    };
  };

  it('and 20 that joined it get its answer', async () => {
    const { app, url } = await serve(here, platform, options);
    const leave = await drop(`${url}/report`);
    const followers = times(FOLLOWERS, async () => (await fetch(`${url}/report`)).text());
    await app.waiting(FOLLOWERS + 1);
    await leave();
    await origin.now.give('value');
    expect(await followers).toEqual(Array(FOLLOWERS).fill('value'));
    expect(origin.now.starts).toBe(1);
    expect(await here.entries()).toHaveLength(1);
  });

  it('and 20 that wait in another process get it too', async () => {
    const [one, two] = [await serve(here, platform, options), await serve(here, platform, options)];
    const leave = await drop(`${one.url}/report`);
    const others = times(FOLLOWERS, async () => (await fetch(`${two.url}/report`)).text());
    await two.app.happened('wait.start');
    await leave();
    await origin.now.give('value');
    expect(await others).toEqual(Array(FOLLOWERS).fill('value'));
    expect(origin.now.starts).toBe(1);
  });

  it('alone: its answer is stored for whoever comes next', async () => {
    const { url } = await serve(here, platform, options);
    await (
      await drop(`${url}/report`)
    )();
    await origin.now.give('value');
    await until(async () => (await here.entries()).length === 1, { what: 'the response to be stored' });
    expect(await (await fetch(`${url}/report`)).text()).toBe('value');
    expect(origin.now.starts).toBe(1);
  });
});
