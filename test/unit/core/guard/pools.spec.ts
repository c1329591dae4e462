import type { CacheOptions } from '../../../../lib/core/cache-options.js';
import { ConfigurationError } from '../../../../lib/core/errors.js';
import type { LoadsOptions } from '../../../../lib/core/guard/index.js';
import { errorOf } from '../../../contract/cache/subject.js';
import type { Process } from '../../../contract/cache/lab.js';
import { Origin } from '../../../support/origin.js';
import { MemoryLab } from '../memory-lab.js';
import { stateOf } from '../state-of.js';

const REPORTS = { pool: 'reports' } as const;
const SHED = { code: 'LOAD_REJECTED' };

let lab: MemoryLab;
/** Of a cache that does nothing. */
let timers: number;

beforeEach(() => {
  lab = new MemoryLab();
});
afterEach(async () => {
  // Whatever looked after nested loads has stopped.
  await lab.fake.advance(50);
  const { background } = lab.fake.pending();
  if (background > timers) throw new Error(`${background - timers} timers were left armed`);
});

async function open(loads: LoadsOptions, options: CacheOptions = {}): Promise<Process> {
  const process = await lab.process({ ...options, loads });
  await process.get('first', () => 'v', { pool: 'default' });
  await lab.fake.settle();
  timers = lab.fake.pending().background;
  return process;
}

describe('a pool', () => {
  it('has slots of its own', async () => {
    const a = await open({ concurrency: 2, pools: { reports: { concurrency: 1 } } });
    const [shop, reports] = [new Origin(), new Origin()];
    const calls = [0, 1, 2].flatMap((i) => [
      a.get(`s${i}`, shop.load),
      a.get(`r${i}`, reports.load, REPORTS),
    ]);
    await lab.fake.settle();

    expect([shop.running, reports.running]).toEqual([2, 1]);
    expect(a.cache.stats()).toMatchObject({
      active: { slots: 3, queued: 3 },
      pools: { default: { slots: 2, queued: 1 }, reports: { slots: 1, queued: 2 } },
    });
    for (let i = 0; i < 3; i++) await Promise.all([shop.give('s'), reports.give('r')]);
    expect(await Promise.all(calls)).toEqual(['s', 'r', 's', 'r', 's', 'r']);
  });

  it('has a queue and a queueTimeout of its own', async () => {
    const a = await open({ concurrency: 1, pools: { reports: { queue: 1, queueTimeout: 20_000 } } });
    const origin = new Origin();
    const calls = [0, 1, 2].map((i) => stateOf2(a.get(`r${i}`, origin.load, REPORTS)));
    await lab.fake.settle();
    await lab.fake.advance(19_999);

    expect(calls.map(({ code }) => code)).toEqual(['pending', 'pending', 'LOAD_REJECTED']);
    expect(calls[2]?.error).toMatchObject({
      retryAfter: 10_000,
      message: expect.stringContaining('loads.pools.reports.queue') as string,
    });
    await lab.fake.advance(1);
    expect(calls[1]).toMatchObject({
      code: 'LOAD_REJECTED',
      error: { message: expect.stringContaining('loads.pools.reports.queueTimeout') as string },
    });
    await origin.give('v');
  });

  it('has a breaker of its own', async () => {
    const a = await open({ pools: { reports: { breaker: { minimum: 2 } } } });
    const down = (): Promise<never> => Promise.reject(new Error('down'));
    for (let i = 0; i < 2; i++) await errorOf(a.get(`r${i}`, down, REPORTS));
    await lab.fake.settle();

    expect(await errorOf(a.get('r', () => 'v', REPORTS))).toMatchObject(SHED);
    expect(await a.get('s', () => 'v')).toBe('v');
    expect(a.cache.stats().pools).toMatchObject({
      default: { breaker: 'closed' },
      reports: { breaker: 'open' },
    });
  });

  it('gives refreshes a quarter of its slots, behind foreground loads', async () => {
    const a = await open({ concurrency: 100, pools: { reports: { concurrency: 4 } } });
    const policy = { ...REPORTS, ttl: 20, stale: 60_000 };
    for (let i = 0; i < 3; i++) await a.get(`k${i}`, () => 'v1', policy);
    await lab.fake.advance(30);
    const origin = new Origin();
    for (let i = 0; i < 3; i++) expect(await a.get(`k${i}`, origin.load, policy)).toBe('v1');
    await lab.fake.settle();
    expect(origin.running).toBe(1);
    const foreground = [0, 1, 2].map((i) => a.get(`f${i}`, origin.load, policy));
    await lab.fake.settle();

    expect(origin.running).toBe(4);
    for (let i = 0; i < 6; i++) await origin.give('v2');
    expect(await Promise.all(foreground)).toHaveLength(3);
  });

  it('counts callers with all others', async () => {
    const a = await open({ waiters: 1, pools: { reports: {} } });
    const origin = new Origin();
    const first = a.get('k', origin.load);
    await origin.started(1);

    expect(await errorOf(a.get('r', () => 'v', REPORTS))).toMatchObject(SHED);
    await origin.give('v');
    await first;
  });

  it('may be the default of all entries, and the default pool that of one', async () => {
    const a = await open({ pools: { reports: {} } }, { policy: REPORTS });
    const origin = new Origin();
    const calls = [a.get('r', origin.load), a.get('s', origin.load, { pool: 'default' })];
    await origin.started(2);

    expect(a.cache.stats().pools).toMatchObject({ default: { slots: 1 }, reports: { slots: 1 } });
    await origin.give('v');
    await origin.give('v');
    await Promise.all(calls);
  });

  it('that there is not is refused by name, with those that there are', async () => {
    const a = await open({ pools: { reports: {} } });

    const error = await errorOf(a.get('k', () => 'v', { pool: 'report' }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).toContain("Shop.find: pool 'report' is unknown; known: 'default', 'reports'.");
    expect(String(await errorOf(a.get('k', () => 'v', { pool: 5 as never })))).toContain(
      'Shop.find: pool is a text, received 5',
    );
  });
});

describe('a load inside a load of another pool', () => {
  it('takes a slot of its own pool', async () => {
    const a = await open({ concurrency: 1, pools: { reports: { concurrency: 1 } } });
    const [inner, other] = [new Origin(), new Origin()];
    const outer = a.get('outer', () => a.get('inner', inner.load, REPORTS));
    await inner.started(1);
    const waiting = a.get('other', other.load, REPORTS);
    await lab.fake.settle();

    expect(other.starts).toBe(0);
    expect(a.cache.stats().pools).toMatchObject({ default: { slots: 1 }, reports: { slots: 1, queued: 1 } });
    await inner.give('v');
    await other.give('w');
    expect(await Promise.all([outer, waiting])).toEqual(['v', 'w']);
  });

  it('waits while that pool is busy, and is shed like any other', async () => {
    const a = await open({ concurrency: 1, pools: { reports: { concurrency: 1 } } });
    const busy = new Origin();
    const holder = a.get('holder', busy.load, REPORTS);
    await busy.started(1);
    const outer = errorOf(a.get('outer', () => a.get('inner', () => 'v', REPORTS)));
    await lab.fake.advance(999);
    expect(a.cache.stats().pools['reports']).toMatchObject({ queued: 1 });
    await lab.fake.advance(1);

    expect(await outer).toMatchObject(SHED);
    await busy.give('v');
    await holder;
  });

  it('runs on the slot of its own chain where that has one in its pool', async () => {
    const a = await open({ concurrency: 1, pools: { reports: { concurrency: 1 } } });
    const there = (): Promise<unknown> => a.get('there', back, REPORTS);
    const back = (): Promise<unknown> => a.get('back', again);
    const again = (): Promise<unknown> => a.get('again', () => 'v', REPORTS);

    expect(await stateOf(lab, a.get('outer', there))).toEqual({ value: 'v' });
  });

  it.each([1, 3])('never waits for ever for loads that wait for it: two pools of %i', async (concurrency) => {
    const a = await open({ concurrency, queueTimeout: '1h', pools: { reports: {} } });
    const both = new Peaks();
    const gate = new Origin();
    const through = (pool: string, next: string, i: number): Promise<unknown> =>
      a.get(
        `${pool}-${i}`,
        async () => {
          await gate.load();
          return a.get(`${next}-inner-${i}`, both.counting(next), { pool: next });
        },
        { pool },
      );
    const calls = Array.from({ length: concurrency * 3 }, (_, i) => [
      through('default', 'reports', i),
      through('reports', 'default', i),
    ]).flat();
    const all = Promise.all(calls);
    for (let i = 0; i < 6; i++) {
      while (gate.running > 0) await gate.give(undefined);
      await lab.fake.advance(50);
    }

    expect(await stateOf(lab, all)).toEqual({ value: calls.map(() => 'v') });
    for (const peak of both.peaks.values()) expect(peak).toBeLessThanOrEqual(concurrency);
    expect(a.cache.stats().active).toMatchObject({ slots: 0, queued: 0, callers: 0, flights: 0 });
  });

  it('nor over a load that it only joined', async () => {
    const a = await open({ concurrency: 1, queueTimeout: '1h', pools: { reports: { concurrency: 1 } } });
    const [ready, go] = [new Origin(), new Origin()];
    // Led by nobody's load, in `reports`; it will call into the default pool.
    const joined = a.get(
      'joined',
      async () => {
        await go.load();
        return a.get('inner', () => 'v');
      },
      REPORTS,
    );
    await go.started(1);
    const outer = a.get('outer', async () => {
      const value = a.get('joined', () => 'never', REPORTS);
      void ready.load();
      return value;
    });
    await ready.started(1);
    await lab.fake.settle();
    await go.give(undefined);
    await lab.fake.advance(50);

    expect(await stateOf(lab, Promise.all([joined, outer]))).toEqual({ value: ['v', 'v'] });
  });

  it('nor beside a load that goes on: the plight is seen when that has ended', async () => {
    const a = await open({ concurrency: 1, queueTimeout: '1h', pools: { reports: {}, third: {} } });
    const [third, gate] = [new Origin(), new Origin()];
    const one = a.get('one', async () => {
      await gate.load();
      return Promise.all([
        a.get('beside', third.load, { pool: 'third' }),
        a.get('one-inner', () => 1, REPORTS),
      ]);
    });
    const two = a.get(
      'two',
      async () => {
        await gate.load();
        return a.get('two-inner', () => 2);
      },
      REPORTS,
    );
    await gate.started(2);
    await gate.give(undefined);
    await gate.give(undefined);
    await lab.fake.advance(200);
    expect(await stateOf(lab, Promise.race([one, two]))).toBe('pending');
    await third.give(3);
    await lab.fake.advance(50);

    expect(await stateOf(lab, Promise.all([one, two]))).toEqual({ value: [[3, 1], 2] });
  });

  it('does not take the slot of a load that runs', async () => {
    const a = await open({ concurrency: 1, queueTimeout: '1h', pools: { reports: {} } });
    const [running, inner] = [new Origin(), new Origin()];
    const holder = a.get('holder', running.load, REPORTS);
    await running.started(1);
    const outer = a.get('outer', () => a.get('inner', inner.load, REPORTS));
    await lab.fake.advance(1_000);

    expect(inner.starts).toBe(0);
    await running.give('v');
    await inner.give('w');
    expect(await Promise.all([holder, outer])).toEqual(['v', 'w']);
  });
});

/** Loads under way at once at the origin of each pool. */
class Peaks {
  readonly peaks = new Map<string, number>();
  private readonly running = new Map<string, number>();

  counting(pool: string): () => Promise<string> {
    return async () => {
      const now = (this.running.get(pool) ?? 0) + 1;
      this.running.set(pool, now);
      this.peaks.set(pool, Math.max(this.peaks.get(pool) ?? 0, now));
      await new Promise<void>((resolve) => void lab.fake.runtime.timers.after(10, resolve));
      this.running.set(pool, (this.running.get(pool) ?? 0) - 1);
      return 'v';
    };
  }
}

/** How a call stands, looked at later. */
function stateOf2(call: Promise<unknown>): { code: string; error: unknown } {
  const state = { code: 'pending', error: undefined as unknown };
  call.then(
    () => (state.code = 'value'),
    (error: unknown) => Object.assign(state, { code: (error as { code: string }).code, error }),
  );
  return state;
}
