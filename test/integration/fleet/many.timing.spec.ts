import { Fleet, measured } from './fleet.js';
import { until } from '../../support/until.js';

const PROCESSES = 3;
const KEYS = 1_000;
const LOAD_MS = 200;

let fleet: Fleet;
let rounds = 0;

beforeAll(async () => {
  fleet = await Fleet.start({ processes: PROCESSES });
}, 30_000);
afterAll(() => fleet.stop());

/** Keys that nobody has used. */
function newKeys(): string[] {
  rounds += 1;
  return Array.from({ length: KEYS }, (_, index) => `many-${rounds}-${index}`);
}

/** Two thirds of them for each process, in an order of its own: every key is wanted by two. */
function shareOf(keys: readonly string[], index: number): string[] {
  const wanted = keys.filter((_, at) => at % PROCESSES !== index);
  const from = Math.floor((wanted.length * index) / PROCESSES);
  return [...wanted.slice(from), ...wanted.slice(0, from)];
}

async function loadsOf(keys: readonly string[]): Promise<Record<number, number>> {
  const counts = await Promise.all(keys.map((key) => fleet.source.count(key)));
  return counts.reduce<Record<number, number>>(
    (all, count) => ({ ...all, [count]: (all[count] ?? 0) + 1 }),
    {},
  );
}

describe('Calls for many ids in three processes, which overlap', () => {
  it('load each id once', async () => {
    await fleet.control(20);
    const keys = newKeys();
    const replies = await fleet.workers.allWith('many', (index) => [
      shareOf(keys, index),
      LOAD_MS,
      { ttl: '1m' },
    ]);

    replies.forEach(({ serials }, index) => {
      expect(serials.map(([key]) => key)).toEqual(shareOf(keys, index));
      expect(new Set(serials.map(([, serial]) => serial))).toEqual(new Set([1]));
    });
    expect(await loadsOf(keys)).toEqual({ 1: KEYS });
    const batches = replies.map((reply) => reply.batches);
    measured('many ids', { batches });
    // A call for at most 500 ids each; a few more where a process came to lead late.
    expect(batches.flat().length).toBeLessThan(20);
    expect(
      await fleet.workers.allWith('many', (index) => [shareOf(keys, index), LOAD_MS, { ttl: '1m' }]),
    ).toEqual(replies.map(({ serials }) => ({ serials, batches: [] })));
  }, 30_000);

  it('take over together the ids of a process that is killed in mid-load', async () => {
    const keys = newKeys();
    const policy = { ttl: '1m', lease: '3s' } as const;
    const [dying, ...living] = fleet.workers.list;
    if (!dying) throw new Error('there are three processes');
    const lost = dying.call('many', keys, 60_000, policy).catch(() => undefined);
    await until(async () => (await loadsOf(keys))[1] === KEYS, { what: 'all loads to begin' });
    const calls = living.map((worker) => worker.call('many', keys, LOAD_MS, policy));
    await dying.kill();
    const replies = await Promise.all(calls);
    await lost;

    for (const { serials } of replies) {
      expect(serials.map(([key]) => key)).toEqual(keys);
      expect(new Set(serials.map(([, serial]) => serial))).toEqual(new Set([2]));
    }
    expect(await loadsOf(keys)).toEqual({ 2: KEYS });
    const batches = replies.map((reply) => reply.batches);
    measured('many ids taken over', { batches });
    expect(batches.flat().length).toBeLessThan(40);
  }, 30_000);
});
