import { until } from '../support/until.js';
import { errorOf } from './support/conditions.js';
import { errorsOf, Fleet } from './support/fleet.js';

const LEASE = 1_000;
const LOAD = 100;
const CALLERS = 10;

let fleet: Fleet;

beforeEach(async () => {
  const cache = { policy: { lease: LEASE } };
  fleet = await Fleet.start({ processes: 3, cache, proxies: true });
}, 30_000);
afterEach(() => fleet.stop());

/** Looks at the life of a key until stopped; returns every life it saw of a key that was there. */
function watch(name: string): () => Promise<number[]> {
  const lives: number[] = [];
  const client = fleet.redis.client();
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const life = await client.pttl(name);
      if (life !== -2) lives.push(life);
    }
  })();
  return async () => {
    stopped = true;
    await watching;
    return lives;
  };
}

describe('FC-014: a process that is killed with the lease of a key', () => {
  it.each([
    ['in mid-load', 0],
    // Its link is cut between the command that took the lease and anything that could have followed.
    ['before it knew that it has it, and its link with it', 500],
  ])(
    '%s, blocks the key for the lease at most: a waiter takes over, one load completes',
    async (_, lag) => {
      const name = await fleet.leaseKey('p');
      const unwatch = watch(name);
      fleet.proxy(0).delayReplies(lag);
      const dead = errorOf(fleet.workers.call(0, 'burst', 'p', 1, 10_000));
      await until(async () => (await fleet.raw.getrange(name, 0, 0)) === 'L', { what: 'the lease' });
      if (lag === 0) await fleet.loadsBegan('p', 1);
      else fleet.proxy(0).cut();
      await fleet.workers.at(0).kill();
      expect((await dead).message).toContain('SIGKILL');
      const killed = performance.now();

      const bursts = [1, 2].map((index) => fleet.workers.call(index, 'burst', 'p', CALLERS, LOAD));
      const replies = (await Promise.all(bursts)).flat();
      const took = performance.now() - killed;
      const lives = await unwatch();

      expect(errorsOf(replies)).toEqual([]);
      expect(replies).toHaveLength(2 * CALLERS);
      expect(took).toBeLessThan(LEASE + LOAD + 500);
      const loads = await fleet.loads('p');
      expect(loads.filter((by) => by === 0)).toHaveLength(lag === 0 ? 1 : 0);
      expect(loads.filter((by) => by !== 0)).toHaveLength(1);
      expect(await fleet.completions('p')).toBe(1);
      // Whenever there was a lease it had an end, and never one beyond its length.
      expect(lives.length).toBeGreaterThan(100);
      expect(Math.min(...lives)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...lives)).toBeLessThanOrEqual(LEASE);
    },
    20_000,
  );
});
