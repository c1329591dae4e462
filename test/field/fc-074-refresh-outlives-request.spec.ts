import { AsyncLocalStorage } from 'node:async_hooks';
import { Origin } from '../support/origin.js';
import { until } from '../support/until.js';
import { untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();
const requests = new AsyncLocalStorage<{ id: number; ended: boolean }>();

describe('FC-074: a refresh that ends after the request that began it', () => {
  it('gives its lease back at once: the next refresh begins without waiting for its end', async () => {
    // A lease of this length that was left behind would hold the next refresh up for longer than this test may take.
    const policy = { ttl: 50, stale: '1m', lease: '1m' } as const;
    const { cache } = await here.app();
    await cache.getOrLoad('k', () => 'v1', policy);

    for (const version of ['v2', 'v3']) {
      await untilStale(() => cache.inspect('k'));
      const origin = new Origin();
      const seen: (boolean | undefined)[] = [];
      const load = async () => {
        const value = await origin.load();
        seen.push(requests.getStore()?.ended);
        return value;
      };
      const request = { id: 1, ended: false };
      const answer = await requests.run(request, () => cache.getOrLoadEntry('k', load, policy));
      request.ended = true;
      expect(answer.outcome).toBe('stale');
      await origin.started(1);
      expect(await here.leases()).toHaveLength(1);
      await origin.give(version);
      await until(async () => (await cache.getEntry<string>('k', policy))?.value === version);
      expect(await here.leases()).toEqual([]);
      // It ran in the context of the request that triggered it, as documented, also after that request.
      expect(seen).toEqual([true]);
    }
  });

  it('gives it back too when it fails', async () => {
    const policy = { ttl: 50, stale: '1m', lease: '1m', failureBackoff: 1 } as const;
    const { cache } = await here.app();
    await cache.getOrLoad('k', () => 'v1', policy);
    await untilStale(() => cache.inspect('k'));
    const origin = new Origin();
    await cache.getOrLoad('k', origin.load, policy);
    await origin.fail(new Error('down'));
    await until(async () => (await here.leases()).length === 0);
    await until(async () => {
      await cache.getOrLoad('k', origin.load, policy);
      return origin.starts === 2;
    });
    await origin.give('v2');
  });
});
