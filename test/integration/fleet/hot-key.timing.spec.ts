import type { Policy } from '../../../lib/core/policy/index.js';
import { Fleet, measured } from './fleet.js';
import type { LoadRecord } from './data-source.js';
import type { LoopResult } from './tally.js';

const PROCESSES = 4;
const CALLERS = 8;
const SECONDS = 10;
const LOAD_MS = 200;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start({ processes: PROCESSES });
}, 30_000);
afterAll(() => fleet.stop());

interface Run {
  readonly loads: readonly LoadRecord[];
  readonly results: readonly LoopResult[];
}

/** Closed loops on one key for ten seconds. */
async function run(what: string, policy: Policy): Promise<Run> {
  const key = fleet.key();
  const order = { key, plan: { ms: LOAD_MS }, policy };
  const results = await fleet.workers.all('loop', order, { callers: CALLERS, think: 5, ms: SECONDS * 1_000 });
  const loads = await fleet.source.loads(key);
  const calls = results.reduce((sum, each) => sum + each.calls, 0);
  const p99 = Math.max(...results.map((each) => each.p99));
  measured(what, { loads: loads.length, calls, p99, max: Math.max(...results.map((each) => each.max)) });
  return { loads, results };
}

/** Calls that waited although the first value was there when they began. */
function lateWaits({ loads, results }: Run): object[] {
  const first = loads[0]?.end ?? NaN;
  // The value is there once it is published, a moment after the load's end.
  const waits = results.flatMap((each) => each.waits);
  return waits.filter(({ began }) => began > first + 100);
}

function overlaps(loads: readonly LoadRecord[]): object[] {
  return loads.filter(({ begin }, index) => index > 0 && begin < (loads[index - 1]?.end ?? Infinity));
}

describe('A hot key of 1 s ttl, read by four processes for ten seconds', () => {
  let early: Run;
  let stale: Run;
  let bare: Run;

  beforeAll(async () => {
    await fleet.control(CALLERS);
    // Three keys side by side: ten seconds in all.
    [early, stale, bare] = await Promise.all([
      run('defaults', { ttl: '1s', stale: '5s' }),
      run('no early refresh', { ttl: '1s', stale: '5s', earlyRefresh: 0 }),
      run('neither stale nor early', { ttl: '1s', earlyRefresh: 0 }),
    ]);
  }, 40_000);

  it('is loaded at most 13 times with the defaults', () => {
    expect(early.loads.length).toBeLessThanOrEqual(13);
    // Less than once per ttl and load would mean that nobody refreshes.
    expect(early.loads.length).toBeGreaterThanOrEqual(8);
    expect(overlaps(early.loads)).toEqual([]);
  });

  it('is loaded 9 times, give or take one, without early refresh', () => {
    expect(stale.loads.length).toBeGreaterThanOrEqual(8);
    expect(stale.loads.length).toBeLessThanOrEqual(10);
    expect(overlaps(stale.loads)).toEqual([]);
  });

  it('keeps no caller waiting but for the very first load', () => {
    for (const each of [early, stale]) {
      expect(each.results.flatMap(({ errors }) => errors)).toEqual([]);
      expect(lateWaits(each)).toEqual([]);
      for (const { p99 } of each.results) expect(p99).toBeLessThan(100);
    }
  });

  it('is loaded exactly once per expiry when nothing stale may be served', () => {
    const { loads, results } = bare;
    expect(results.flatMap(({ errors }) => errors)).toEqual([]);
    expect(overlaps(loads)).toEqual([]);
    const pauses = loads.slice(1).map(({ begin }, index) => begin - (loads[index]?.end ?? NaN));
    // From the end of a load to the next expiry: the ttl, shortened by up to 10 %, and by what the lease's grant was
    // late in reaching its owner. Two loads for one expiry would follow each other at once.
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(700);
    expect(loads.length).toBeGreaterThanOrEqual(7);
    expect(loads.length).toBeLessThanOrEqual(10);
    // Every load is seen in every process.
    for (const { firstSeen } of results) expect(Object.keys(firstSeen)).toHaveLength(loads.length);
  });
});
