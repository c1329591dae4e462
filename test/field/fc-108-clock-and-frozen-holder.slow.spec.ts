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

describe.each([TEN_YEARS, -TEN_YEARS])('FC-108: a process whose clock is wrong by %i ms', (clockSkew) => {
  const start = async () => {
    const setupOf = (index: number) => ({ clockSkew: index === 0 ? clockSkew : 0, tags: ['products'] });
    fleet = await Fleet.start({ processes: 2, setupOf });
  };
  /** Which load each process answers with, asked one after the other. */
  const seen = async () => [
    ...serialsOf(await fleet.workers.call(0, 'burst', 'p', 1, 0)),
    ...serialsOf(await fleet.workers.call(1, 'burst', 'p', 1, 0)),
  ];
  const settled = async (serial: number) => {
    await until(async () => (await seen()).every((each) => each === serial), {
      what: `load ${serial} everywhere`,
    });
    expect(await fleet.loads('p')).toHaveLength(serial);
  };

  it('invalidates tags, clears and expires what was there, and nothing that comes after', async () => {
    await start();
    await settled(1);
    let serial = 1;
    for (const by of [0, 1]) {
      for (const change of ['invalidateTags', 'clear'] as const) {
        await (change === 'clear'
          ? fleet.workers.call(by, 'clear')
          : fleet.workers.call(by, 'invalidateTags', 'products'));
        await settled((serial += 1));
      }
      await fleet.workers.call(by, 'expireTags', 'products');
      expect((await fleet.workers.call(1, 'inspect', 'p'))?.state).toMatch(/stale|expired/);
      await settled((serial += 1));
      expect((await fleet.workers.call(0, 'inspect', 'p'))?.state).toBe('fresh');
    }

    // A hold-off lasts as long as it says, by the clock of Redis.
    const HOLD_OFF = 500;
    const began = performance.now();
    await fleet.workers.call(0, 'invalidate', 'p', HOLD_OFF);
    const stored = async () => (await fleet.raw.exists(await fleet.dataKey('p'))) === 1;
    await until(async () => (await seen()).length > 0 && (await stored()), {
      what: 'the end of the hold-off',
    });
    expect(performance.now() - began).toBeGreaterThan(HOLD_OFF - 50);
    expect(performance.now() - began).toBeLessThan(HOLD_OFF + 2_000);
  }, 30_000);
});
