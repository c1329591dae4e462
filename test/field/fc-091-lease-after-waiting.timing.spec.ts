import { Origin } from '../support/origin.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

/** 2 s in the field. */
const LEASE = 700;

describe('FC-091: a lease that is got after waiting behind two others', () => {
  it('is a whole one: it counts from when it was got, not from when it was first asked for', async () => {
    // Three applications, each with a link of its own: one whose link goes silent is a holder that went silent.
    const proxies = await times(3, () => TcpProxy.start({ port: here.redis.port }));
    for (const proxy of proxies) here.atEnd(() => proxy.close());
    const apps: App[] = [];
    for (const { url } of proxies) apps.push(await here.app({ cache: { redis: url } }));
    here.atEnd(async () => proxies.forEach((proxy) => proxy.resume()));
    const policy = { lease: LEASE } as const;
    const origin = new Origin();
    const holders: { index: number; life: number; at: number }[] = [];
    const callOf = (index: number) => {
      const load = async () => {
        const at = performance.now();
        const [name] = await here.leases();
        holders.push({ index, life: await here.raw.pttl(name ?? ''), at });
        return origin.load();
      };
      return apps[index]!.cache.getOrLoad('k', load, policy);
    };

    const calls = [callOf(0)];
    await until(() => holders.length === 1);
    calls.push(callOf(1), callOf(2));
    await Promise.all([apps[1]!.happened('wait.start'), apps[2]!.happened('wait.start')]);
    proxies[0]!.blackHole();
    await until(() => holders.length === 2);
    proxies[holders[1]!.index]!.blackHole();
    await until(() => holders.length === 3);

    const last = holders[2]!;
    expect(new Set(holders.map(({ index }) => index)).size).toBe(3);
    expect(last.at - holders[0]!.at).toBeGreaterThan(2 * LEASE * 0.6);
    for (const { life } of holders) {
      expect(life).toBeGreaterThan(LEASE * 0.9);
      expect(life).toBeLessThanOrEqual(LEASE);
    }
    for (const proxy of proxies) proxy.resume();
    await until(() => origin.running === 3);
    for (let load = 1; load <= 3; load++) await origin.give(load);
    expect(await Promise.all(calls)).toHaveLength(3);
    // The last holder's value is the one that stays.
    await until(async () => (await apps[0]!.cache.get('k')) === 3);
  }, 15_000);
});
