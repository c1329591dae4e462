import { until } from '../../support/until.js';
import { errorsOf, Fleet, measured, serials } from './fleet.js';
import { machineNow } from './machine-clock.js';
import type { Order } from './fleet.worker.js';

const PROCESSES = 4;
const CALLERS = 40;
const LEASE_MS = 1_000;
const LOAD_MS = 500;

let fleet: Fleet;

beforeEach(async () => {
  fleet = await Fleet.start({ processes: PROCESSES });
}, 30_000);
afterEach(() => fleet.stop());

/** Looks at the life of the key's lease until stopped; returns every life it saw of a lease that was there. */
function watchLease(name: string): () => Promise<number[]> {
  const client = fleet.redis.client();
  const seen: number[] = [];
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const life = await client.pttl(name);
      if (life !== -2) seen.push(life);
    }
    client.disconnect();
  })();
  return async () => {
    stopped = true;
    await watching;
    return seen;
  };
}

describe('A lease holder that is killed in mid-load (FC-014, FC-015)', () => {
  it('costs one more load: all callers of the survivors get its value soon after the lease is over', async () => {
    await fleet.control(CALLERS);
    const key = fleet.key();
    const leaseName = await fleet.leaseKey(key);
    const unwatch = watchLease(leaseName);
    const order = { key, plan: { ms: LOAD_MS }, policy: { ttl: '1m', lease: LEASE_MS } } as const;
    const calls = fleet.workers.list.map((worker) => worker.call('burst', order, CALLERS));
    const ended = Promise.allSettled(calls);
    await until(() => fleet.source.count(key), { what: 'the load to begin' });
    const [first] = await fleet.source.loads(key);
    await untilAllWait(leaseName);
    const holder = fleet.workers.at(first?.by ?? -1);
    const killedAt = machineNow();
    await holder.kill();

    const replies = (await ended).flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    const lives = await unwatch();

    const loads = await fleet.source.loads(key);
    const took = Math.max(...replies.map((reply) => reply.ended)) - killedAt;
    measured('killed holder', { loads: loads.length, took, observations: lives.length });
    expect(errorsOf(replies)).toEqual([]);
    expect(replies).toHaveLength((PROCESSES - 1) * CALLERS);
    expect(loads.map(({ end }) => end !== undefined)).toEqual([false, true]);
    expect(serials(replies)).toEqual([2]);
    expect(took).toBeLessThanOrEqual(LEASE_MS + LOAD_MS + 500);
    // It waited indeed for the dead one.
    expect(took).toBeGreaterThan(LOAD_MS);
    expect(lives.length).toBeGreaterThan(100);
    expect(Math.min(...lives)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...lives)).toBeLessThanOrEqual(LEASE_MS);
  }, 30_000);
});

describe('A process that is killed in mid-refresh', () => {
  it('keeps nobody waiting: the old value is served until another has refreshed it, one lease later', async () => {
    await fleet.control(4);
    const key = fleet.key();
    const policy = { ttl: 100, stale: '1m', jitter: 0, earlyRefresh: 0, lease: LEASE_MS } as const;
    const order: Order = { key, plan: { ms: LOAD_MS }, policy };
    await fleet.workers.call(0, 'call', { ...order, plan: { ms: 0 } });
    const reads = fleet.workers.list.map((worker) =>
      worker.call('loop', order, { callers: 4, think: 10, ms: 3_000 }),
    );
    const ended = Promise.allSettled(reads);
    await until(async () => (await fleet.source.count(key)) === 2, { what: 'a refresh to begin' });
    const [, refresh] = await fleet.source.loads(key);
    const killedAt = machineNow();
    await fleet.workers.at(refresh?.by ?? -1).kill();
    const results = (await ended).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const loads = await fleet.source.loads(key);
    expect(results).toHaveLength(PROCESSES - 1);
    expect(results.flatMap(({ errors, waits }) => [...errors, ...waits])).toEqual([]);
    expect(loads[1]?.end).toBeUndefined();
    const next = (loads[2]?.begin ?? Infinity) - killedAt;
    measured('killed refresher', { next, loads: loads.length });
    expect(next).toBeLessThanOrEqual(LEASE_MS + 300);
    for (const { firstSeen } of results) expect(firstSeen).toHaveProperty('3');
  }, 30_000);
});

/** Waits until the lease is marked as contended and the other processes have had time to be told to wait. */
async function untilAllWait(leaseName: string): Promise<void> {
  const client = fleet.redis.client();
  const contended = async (): Promise<boolean> => (await client.getrange(leaseName, 23, 23)) === 'w';
  await until(contended, { what: 'others to wait for the lease' });
  client.disconnect();
}
