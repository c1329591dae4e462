import { until } from '../support/until.js';
import { errorOf } from './support/conditions.js';
import { errorsOf, Fleet, serialsOf } from './support/fleet.js';

const LEASE = 500;
const TEN_YEARS = 10 * 365 * 86_400_000;

let fleet: Fleet;
afterEach(() => fleet.stop());

describe('FC-108: a lease', () => {
  it('taken by a process whose clock is ten years ahead ends by the clock of Redis', async () => {
    const setupOf = (index: number) => ({ clockSkew: index === 0 ? TEN_YEARS : 0 });
    fleet = await Fleet.start({ processes: 2, cache: { policy: { lease: LEASE } }, setupOf });
    const dead = errorOf(fleet.workers.call(0, 'burst', 'p', 1, 10_000));
    await fleet.loadsBegan('p', 1);
    expect(await fleet.raw.pttl(await fleet.leaseKey('p'))).toBeLessThanOrEqual(LEASE);
    await fleet.workers.at(0).kill();
    expect((await dead).message).toContain('SIGKILL');
    const began = performance.now();
    const replies = await fleet.workers.call(1, 'burst', 'p', 5, 10);
    expect(errorsOf(replies)).toEqual([]);
    expect(serialsOf(replies)).toEqual([2]);
    expect(performance.now() - began).toBeLessThan(LEASE + 500);
  }, 20_000);

  it('and entry stored by such a process are as old as they are', async () => {
    const setupOf = (index: number) => ({ clockSkew: index === 0 ? TEN_YEARS : 0 });
    fleet = await Fleet.start({ processes: 2, setupOf });
    await fleet.workers.call(0, 'burst', 'p', 1, 0);
    const info = await until(() => fleet.workers.call(1, 'inspect', 'p'));
    expect(info?.state).toBe('fresh');
    expect(info?.age).toBeLessThan(5_000);
    expect(info?.freshFor).toBeGreaterThan(50_000);
    const [reply] = await fleet.workers.call(1, 'burst', 'p', 1, 0);
    expect(reply?.value?.by).toBe(0);
  }, 20_000);

  it('whose holder was frozen beyond it is left alone, and so is the newer value, when it wakes up', async () => {
    fleet = await Fleet.start({ processes: 3, cache: { policy: { lease: LEASE } } });
    const [dataKey, leaseKey] = [await fleet.dataKey('p'), await fleet.leaseKey('p')];
    const frozen = fleet.workers.at(0);
    const old = frozen.call('burst', 'p', 3, 200);
    await fleet.loadsBegan('p', 1);
    frozen.signal('SIGSTOP');
    // Another takes over, and is still loading when the first one wakes up.
    const next = fleet.workers.call(1, 'burst', 'p', 3, 3 * LEASE);
    expect(await fleet.loadsBegan('p', 2)).toEqual([0, 1]);
    const lease = await fleet.raw.getrange(leaseKey, 1, 22);
    frozen.signal('SIGCONT');
    const late = await old;
    const tried = async () => {
      const { publishes } = await frozen.call('stats');
      return publishes.fenced + publishes.stored + publishes.skipped > 0;
    };
    await until(tried, { what: 'the woken process to be through with its load' });
    // It ended its own load, and neither took the newer lease away nor wrote.
    expect(await fleet.completions('p')).toBe(1);
    expect(await fleet.raw.getrange(leaseKey, 1, 22)).toBe(lease);
    expect(await fleet.raw.exists(dataKey)).toBe(0);
    expect(errorsOf(late)).toEqual([]);

    expect(serialsOf(await next)).toEqual([2]);
    for (const index of [0, 1, 2]) {
      expect(serialsOf(await fleet.workers.call(index, 'burst', 'p', 2, 0))).toEqual([2]);
    }
    expect(await fleet.loads('p')).toHaveLength(2);
  }, 20_000);
});
