import { setTimeout as delay } from 'node:timers/promises';
import type { Policy } from '../../../lib/core/policy/index.js';
import { Fleet, measured } from './fleet.js';

const PROCESSES = 4;
const CALLERS = 500;
const CHANGES = 10;
const PAUSE = 250;
const LOAD_MS = 40;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start({ processes: PROCESSES });
}, 30_000);
afterAll(() => fleet.stop());

type Kind = 'key' | 'tag' | 'name' | 'all';

/** 2,000 callers in closed loops, while the entry is invalidated again and again, each time by another process. */
async function run(kind: Kind): Promise<{ loads: number; calls: number; errors: string[] }> {
  const key = fleet.key();
  const policy: Policy = { ttl: '1m', earlyRefresh: 0, tags: [key] };
  const loops = fleet.workers.all(
    'loop',
    { key, plan: { ms: LOAD_MS }, policy },
    {
      callers: CALLERS,
      think: 300,
      ms: CHANGES * PAUSE + 1_000,
    },
  );
  await delay(500);
  for (let round = 0; round < CHANGES; round++) {
    await fleet.workers.list[round % PROCESSES]?.call('change', kind, key);
    await delay(PAUSE);
  }
  const results = await loops;
  const loads = (await fleet.source.loads(key)).length;
  const calls = results.reduce((sum, each) => sum + each.calls, 0);
  measured(`invalidated by ${kind}`, { loads, calls, changes: CHANGES });
  return { loads, calls, errors: results.flatMap((each) => each.errors) };
}

describe('An entry with 2,000 callers that is invalidated ten times', () => {
  it.each(['key', 'tag', 'name', 'all'] as const)(
    'by %s costs a load for the key, and one for each invalidation',
    async (kind) => {
      const { loads, calls, errors } = await run(kind);

      expect(errors).toEqual([]);
      expect(calls).toBeGreaterThan(2 * CALLERS * PROCESSES);
      expect(loads).toBeLessThanOrEqual(1 + CHANGES);
      // Fewer than half would mean that most invalidations were not heeded.
      expect(loads).toBeGreaterThan(CHANGES / 2);
    },
    30_000,
  );
});
