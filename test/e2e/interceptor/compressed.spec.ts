import { Controller, Get, Header, HttpCode } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { CachedRoute } from 'nestjs-stampede-cache';
import { RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';
import { EVERYWHERE, host, isHit, PLATFORMS, shared, type Site } from './kit.js';

const ROWS = Array.from({ length: 2_000 }, (_, id) => ({ id, name: `row ${id}` }));

let server: RedisServer;
let raw: Redis;
beforeAll(async () => {
  server = await RedisServer.start();
  raw = server.client();
});
afterAll(() => server.stop());
beforeEach(() => raw.flushall());

describe.each(PLATFORMS)('Compressed responses on %s', (platform) => {
  const { serve } = host(platform);

  async function start(compress: boolean): Promise<Site> {
    @Controller()
    class Reports {
      @Get('rows')
      @HttpCode(203)
      @Header('x-fixed', 'yes')
      @CachedRoute()
      rows() {
        return { rows: ROWS };
      }
    }
    const cache = {
      redis: server.url,
      namespace: 'shop',
      redisTimeout: '10s',
      policy: { ttl: '1m', compress },
    } as const;
    return serve({ controllers: [Reports], providers: [EVERYWHERE], cache });
  }

  /** Byte 2 of the only entry. */
  async function letter(): Promise<string> {
    const [key = ''] = await raw.keys('shop:d:*');
    return (await raw.getrange(key, 2, 2)) ?? '';
  }

  it('are what the handler answered, in processes that compress and in those that do not', async () => {
    const [one, two] = [await start(true), await start(false)];
    const first = await one.get('/rows');
    await until(() => one.stored === 1);
    expect(await letter()).toBe('b');
    const hits = [await one.get('/rows'), await two.get('/rows')];
    expect(hits.map(isHit)).toEqual([true, true]);
    for (const hit of hits) expect(shared(hit)).toEqual(shared(first));
    expect(first).toMatchObject({ status: 203, headers: { 'x-fixed': 'yes' } });
    expect(JSON.parse(first.text)).toMatchObject({ rows: ROWS });

    const etag = String(first.headers.etag);
    expect(await two.get('/rows', { 'if-none-match': etag })).toMatchObject({ status: 304, text: '' });
    // Nothing of it shows on the wire.
    expect(hits[1]?.headers['content-encoding']).toBeUndefined();
  });

  it('a process that does not compress leaves an entry that one which does can read', async () => {
    const [one, two] = [await start(true), await start(false)];
    const first = await two.get('/rows');
    await until(() => two.stored === 1);
    expect(await letter()).toBe('-');
    const hit = await one.get('/rows');
    expect(isHit(hit)).toBe(true);
    expect(shared(hit)).toEqual(shared(first));
  });
});
