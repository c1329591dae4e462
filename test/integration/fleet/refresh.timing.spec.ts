import { setTimeout as delay } from 'node:timers/promises';
import { errorsOf, Fleet, measured, serials } from './fleet.js';
import type { Order } from './fleet.worker.js';

const PROCESSES = 6;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start({ processes: PROCESSES });
}, 30_000);
afterAll(() => fleet.stop());

describe('A stale entry whose refresh takes long (FC-073)', () => {
  it('is served to 50 readers of two processes at once, while one load runs', async () => {
    await fleet.control(10);
    const key = fleet.key();
    const policy = { ttl: 100, stale: '1m', jitter: 0, earlyRefresh: 0 } as const;
    const order = (ms: number): Order => ({ key, plan: { ms }, policy });
    await fleet.workers.call(0, 'call', order(0));
    await delay(150); // it becomes stale by the server's time
    const first = await fleet.workers.call(0, 'call', order(500));
    const rest = [...(await fleet.workers.call(0, 'burst', order(500), 25))].concat(
      await fleet.workers.call(1, 'burst', order(500), 24),
    );
    const replies = [first, ...rest];
    const loads = await fleet.source.loads(key);
    expect(errorsOf(replies)).toEqual([]);
    expect(new Set(replies.map(({ outcome }) => outcome))).toEqual(new Set(['stale']));
    expect(serials(replies)).toEqual([1]);
    const longest = Math.max(...replies.map(({ began, ended }) => ended - began));
    measured('longest stale hit, ms', { longest });
    expect(longest).toBeLessThan(250);
    expect(loads).toHaveLength(2);
    expect(loads[1]?.end).toBeUndefined();
  }, 10_000);
});

describe('A key read by many processes through its refresh moments (FC-107)', () => {
  it('is loaded once per moment; every process then reads the new value from Redis', async () => {
    await fleet.control(2);
    const key = fleet.key();
    const policy = { ttl: 800, jitter: 0, stale: '10s', earlyRefresh: { window: 200 } } as const;
    const order: Order = { key, plan: { ms: 50 }, policy };
    const results = await fleet.workers.all('loop', order, { callers: 2, think: 5, ms: 4_000 });
    const loads = await fleet.source.loads(key);
    const pauses = loads.slice(1).map(({ begin }, index) => begin - (loads[index]?.end ?? NaN));
    measured('refresh moments', { loads: loads.length, pauses: pauses.map(Math.round) });
    expect(results.flatMap(({ errors }) => errors)).toEqual([]);
    // Never before the window opens (the machine's noise besides), so never twice for one moment.
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(450);
    expect(loads.length).toBeGreaterThanOrEqual(4);
    for (const { firstSeen, outcomes } of results) {
      expect(Object.keys(firstSeen).length).toBeGreaterThanOrEqual(loads.length - 1);
      expect(
        (outcomes['loaded'] ?? 0) + (outcomes['joined'] ?? 0) + (outcomes['waited'] ?? 0),
      ).toBeLessThanOrEqual(2);
    }
  }, 15_000);
});
