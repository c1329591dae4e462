import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { Origin } from '../support/origin.js';
import { field } from './support/field.js';

const here = field();

@Injectable()
class Accounts {
  loads = 0;

  // The token is left out of the key: whoever names the account shares its entry.
  @Cached({ key: (account) => account })
  async find(account: number, token: string): Promise<string> {
    this.loads += 1;
    return `${account} for ${token}`;
  }
}

describe('FC-122: callers of one key with different options', () => {
  it('share a load, stored for the ttl of its leader; who forces gets one that began after its call', async () => {
    const app = await here.app();
    const { cache } = app;
    const origin = new Origin();
    const first = cache.getOrLoad('k', origin.load, { ttl: '1s' });
    const second = cache.getOrLoad('k', origin.load, { ttl: '60s' });
    await origin.started(1);
    const forced = cache.getOrLoad('k', origin.load, { ttl: '30s' }, { fresh: true });
    const alike = cache.getOrLoad('k', origin.load, { ttl: '20s' }, { fresh: true });
    await app.waiting(4);
    await origin.give('before');
    expect(await Promise.all([first, second])).toEqual(['before', 'before']);
    await origin.give('after');
    expect(await Promise.all([forced, alike])).toEqual(['after', 'after']);
    expect(origin.starts).toBe(2);
    const pttl = await here.pttl();
    expect(pttl).toBeGreaterThan(29_000);
    expect(pttl).toBeLessThanOrEqual(30_000);
  });

  it('store for the ttl of the leader, whatever those who joined ask for', async () => {
    const app = await here.app();
    const origin = new Origin();
    const calls = [app.cache.getOrLoad('k', origin.load, { ttl: '10s' })];
    await origin.started(1);
    calls.push(app.cache.getOrLoad('k', origin.load, { ttl: '60s' }));
    await app.waiting(2);
    await origin.give('v');
    expect(await Promise.all(calls)).toEqual(['v', 'v']);
    expect(await here.pttl()).toBeLessThanOrEqual(10_000);
  });

  it('are told apart by the key alone: what a key leaves out is shared, by design', async () => {
    const app = await here.app({ providers: [Accounts] });
    const accounts = app.get(Accounts);
    const both = await Promise.all([accounts.find(1, 'ann'), accounts.find(1, 'bob')]);
    expect(both).toEqual(['1 for ann', '1 for ann']);
    expect(accounts.loads).toBe(1);
  });

  it('tag the entry as its leader does; the tags of those who joined or hit it are theirs to wish for', async () => {
    const app = await here.app();
    const { cache } = app;
    const origin = new Origin();
    const first = cache.getOrLoad('k', origin.load, { tags: ['leader'] });
    await origin.started(1);
    const second = cache.getOrLoad('k', origin.load, { tags: ['joiner'] });
    await app.waiting(2);
    await origin.give('v');
    expect(await Promise.all([first, second])).toEqual(['v', 'v']);
    expect((await cache.inspect('k'))?.tags).toEqual(['leader']);
    await cache.invalidateTags('joiner');
    expect(await cache.getOrLoad('k', origin.load, { tags: ['joiner'] })).toBe('v');
    await cache.invalidateTags('leader');
    expect(await cache.get('k')).toBeUndefined();
  });
});
