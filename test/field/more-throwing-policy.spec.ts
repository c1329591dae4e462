import { setImmediate as turn } from 'node:timers/promises';
import { until } from '../support/until.js';
import { untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

const fail = (): never => {
  throw new Error('thrown by the policy');
};
const POLICIES = [
  ['ttl', { ttl: fail }],
  ['tags', { tags: fail }],
  ['valueTags', { valueTags: fail }],
  ['cacheIf', { cacheIf: fail }],
  ['isNegative', { isNegative: fail }],
  ['mayExist', { mayExist: () => Promise.reject(new Error('thrown by the policy')) }],
  ['negativeErrors', { negativeErrors: [fail] }],
  ['fallback', { fallback: fail }],
] as const;

// An unhandled rejection would fail this file.
describe.each(POLICIES)('A policy whose %s throws', (_, broken) => {
  const isIdle = { flights: 0, refreshes: 0, slots: 0, queued: 0, callers: 0 };

  it.each([
    ['succeeds', () => 'v'],
    ['fails', () => Promise.reject(new Error('the load failed'))],
  ])(
    'settles every call, lets go of slot and lease, and harms no other entry, when the load %s',
    async (__, load) => {
      const { cache } = await here.app();
      const calls = Array.from({ length: 5 }, () => cache.getOrLoad('k', load, broken as object));
      const ends = await Promise.allSettled(calls);
      for (const end of ends) {
        const text = end.status === 'fulfilled' ? end.value : String(end.reason);
        expect(text).toMatch(/^v$|thrown by the policy|the load failed/);
      }
      await turn();
      expect(cache.stats().active).toMatchObject(isIdle);
      await until(async () => (await here.leases()).length === 0, { what: 'the lease to go' });
      expect(await cache.getOrLoad('other', () => 'w')).toBe('w');
      await cache.invalidate('k');
      expect(await cache.getOrLoad('k', () => 'well')).toBe('well');
    },
  );

  it('leaves a stale value its readers, and the process its peace', async () => {
    const app = await here.app();
    const { cache } = app;
    const stale = { ttl: 20, stale: '1m' } as const;
    await cache.getOrLoad('k', () => 'old', stale);
    await untilStale(() => cache.inspect('k'));
    const policy = { ...stale, ...(broken as object) };
    for (let i = 0; i < 3; i++) {
      const read = await cache.getOrLoad('k', () => 'new', policy).catch((error: Error) => error.message);
      expect(read).toMatch(/^(old|new)$|thrown by the policy/);
      await turn();
    }
    await until(() => cache.stats().active.refreshes === 0, { what: 'the refresh to end' });
    expect(cache.stats().active).toMatchObject(isIdle);
  });
});
