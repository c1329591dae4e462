import { Origin } from '../support/origin.js';
import { until } from '../support/until.js';
import { untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

const POLICY = { ttl: '1m', stale: '1m' } as const;

// Two applications stand for two processes: they share nothing but Redis.
describe('FC-057: a refresh', () => {
  it('that a caller forces with `fresh` is stored: another process sees it, with a life of its own', async () => {
    const [one, two] = [await here.app(), await here.app()];
    await one.cache.getOrLoad('k', () => 'v1', POLICY);
    await here.raw.pexpire(await here.entry(), 30_000); // as if it were older
    expect(await one.cache.getOrLoad('k', () => 'v2', POLICY, { fresh: true })).toBe('v2');
    const never = () => Promise.reject(new Error('loaded again'));
    expect(await two.cache.getOrLoadEntry('k', never, POLICY)).toMatchObject({
      value: 'v2',
      outcome: 'fresh',
    });
    expect(await here.pttl()).toBeGreaterThan(110_000);
  });

  it('that a stale hit starts in the background is stored likewise', async () => {
    const policy = { ttl: 50, stale: '1m' } as const;
    const [one, two] = [await here.app(), await here.app()];
    await one.cache.getOrLoad('k', () => 'v1', policy);
    await untilStale(() => one.cache.inspect('k'));
    await here.raw.pexpire(await here.entry(), 30_000);
    expect(await one.cache.getOrLoad('k', (ctx) => (ctx.ttl('1m'), 'v2'), policy)).toBe('v1');
    await until(async () => (await two.cache.getEntry<string>('k', policy))?.value === 'v2');
    expect(await here.pttl()).toBeGreaterThan(50_000);
  });

  it('goes past the cache with `bypass` and changes nothing in it', async () => {
    const { cache } = await here.app();
    await cache.set('k', 'v1', POLICY);
    expect(await cache.getOrLoad('k', () => 'v2', POLICY, { bypass: true })).toBe('v2');
    expect(await cache.get('k')).toBe('v1');
  });

  it('under way when the application closes is awaited and stored, and its lease is given back', async () => {
    const policy = { ttl: 50, stale: '1m' } as const;
    const [one, two] = [await here.app(), await here.app()];
    await one.cache.getOrLoad('k', () => 'v1', policy);
    await untilStale(() => one.cache.inspect('k'));
    const origin = new Origin();
    expect(await one.cache.getOrLoad('k', origin.load, policy)).toBe('v1');
    await origin.started(1);
    let closed = false;
    const closing = one.close().then(() => (closed = true));
    expect(await here.leases()).toHaveLength(1);
    expect(closed).toBe(false);
    await origin.give('v2');
    await closing;
    expect((await two.cache.getEntry<string>('k', policy))?.value).toBe('v2');
    expect(await here.leases()).toEqual([]);
  });
});
