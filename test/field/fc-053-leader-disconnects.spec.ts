import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Inject, Req } from '@nestjs/common';
import { StampedeCacheService } from 'nestjs-stampede-cache';
import { Origin } from '../support/origin.js';
import { errorOf, times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();
const FOLLOWERS = 20;

/** What both HTTP adapters of Nest give a handler of the raw request. */
interface Incoming {
  readonly socket: { once(event: 'close', listener: () => void): unknown };
}

const origin: { now: Origin; signals: AbortSignal[] } = { now: new Origin(), signals: [] };

@Controller()
class ReportController {
  constructor(@Inject(StampedeCacheService) private readonly cache: StampedeCacheService) {}

  @Get('report')
  async report(@Req() request: Incoming): Promise<unknown> {
    const gone = new AbortController();
    request.socket.once('close', () => gone.abort());
    const load = (ctx: { signal: AbortSignal }) => {
      origin.signals.push(ctx.signal);
      return origin.now.load();
    };
    return this.cache.getOrLoad('report', load, undefined, { signal: gone.signal });
  }
}

beforeEach(() => {
  origin.now = new Origin();
  origin.signals = [];
});

describe('FC-053: the request that leads a load is dropped by its client', () => {
  it('and 20 followers get the value all the same, of that one load', async () => {
    const app = await here.http({ controllers: [ReportController] });
    await app.nest.listen(0, '127.0.0.1');
    const server = app.nest.getHttpServer() as Server;
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report`;

    const client = new AbortController();
    const leader = errorOf(fetch(url, { signal: client.signal, headers: { connection: 'close' } }));
    await origin.now.started(1);
    const followers = times(FOLLOWERS, async () => (await fetch(url)).text());
    await app.waiting(FOLLOWERS + 1);
    client.abort();
    expect((await leader).name).toBe('AbortError');
    // The server has noticed: one caller fewer waits.
    await app.waiting(FOLLOWERS);
    expect(origin.signals.map(({ aborted }) => aborted)).toEqual([false]);
    await origin.now.give('value');
    expect(await followers).toEqual(Array(FOLLOWERS).fill('value'));
    expect(origin.now.starts).toBe(1);
    expect(await here.entries()).toHaveLength(1);
    server.closeAllConnections();
  });

  it('and those who wait in another process get it too', async () => {
    const [one, two] = [await here.app(), await here.app()];
    const leader = new AbortController();
    const { now } = origin;
    const first = errorOf(one.cache.getOrLoad('k', now.load, undefined, { signal: leader.signal }));
    await now.started(1);
    const others = times(FOLLOWERS, () => two.cache.getOrLoad('k', now.load));
    await two.happened('wait.start');
    leader.abort();
    expect((await first).name).toBe('AbortError');
    await now.give('value');
    expect(await others).toEqual(Array(FOLLOWERS).fill('value'));
    expect(now.starts).toBe(1);
  });
});
