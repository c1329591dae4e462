import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { times, untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();
const als = new AsyncLocalStorage<{ id: number }>();
const REQUESTS = 100;

@Injectable()
class Profiles {
  readonly loadedIn: (number | undefined)[] = [];
  readonly keyedIn: (number | undefined)[] = [];

  @Cached({
    ttl: 60,
    stale: '1m',
    key(this: Profiles, id: number) {
      this.keyedIn.push(als.getStore()?.id);
      return id;
    },
  })
  async find(id: number): Promise<number> {
    this.loadedIn.push(als.getStore()?.id);
    await new Promise((resolve) => setImmediate(resolve));
    this.loadedIn.push(als.getStore()?.id);
    return id;
  }
}

/** 100 requests at once, each in a context of its own; what each sees of it after its call. */
const requests = (profiles: Profiles) =>
  times(REQUESTS, (id) =>
    als.run({ id }, async () => {
      await profiles.find(1);
      return als.getStore()?.id;
    }),
  );
const own = Array.from({ length: REQUESTS }, (_, id) => id);

describe('FC-084: 100 requests with an async context each', () => {
  it('keep their own: leader, followers, stale hits, hits, and over a reconnect to Redis', async () => {
    const proxy = await TcpProxy.start({ port: here.redis.port });
    here.atEnd(() => proxy.close());
    const app = await here.app({ providers: [Profiles], cache: { redis: proxy.url } });
    const profiles = app.get(Profiles);
    const look = () => app.cache.of(Profiles, 'find').inspect(1);

    // One leader, 99 followers; the load is the leader's, before and after its awaits.
    expect(await requests(profiles)).toEqual(own);
    expect(profiles.loadedIn).toEqual([0, 0]);
    expect(profiles.keyedIn).toEqual(own);

    // Stale hits; the refresh is that of whoever triggered it.
    await untilStale(look);
    expect(await requests(profiles)).toEqual(own);
    await until(() => profiles.loadedIn.length === 4, { what: 'the refresh' });
    const [, , trigger, after] = profiles.loadedIn;
    expect(own).toContain(trigger);
    expect(after).toBe(trigger);

    // Hits.
    expect(await requests(profiles)).toEqual(own);

    // The connections are lost in the middle of them, and come back.
    const disturbed = requests(profiles);
    expect(proxy.cut()).toBeGreaterThan(0);
    expect(await disturbed).toEqual(own);
    await app.happened('redis.up');
    expect(await requests(profiles)).toEqual(own);
  });

  it('is seen by the function that the module varies every key by', async () => {
    const app = await here.app({ cache: { vary: () => als.getStore()?.id } });
    const answers = await times(REQUESTS, (id) =>
      als.run({ id }, () => app.cache.getOrLoad('k', () => als.getStore()?.id)),
    );
    expect(answers).toEqual(own);
    expect(await here.entries()).toHaveLength(REQUESTS);
  });
});
