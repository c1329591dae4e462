import { errorsOf, Fleet, measured } from './fleet.js';
import type { Order } from './fleet.worker.js';

const REPETITIONS = 20;
const LOAD_MS = 100;
/** The longest a call made inside a load waits for another process. */
const NESTED_WAIT = 1_000;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start({ processes: 2 });
}, 30_000);
afterAll(() => fleet.stop());

describe('Loads that call each other in two processes (FC-037)', () => {
  it('settle after the wait of a nested call and two loads, every time', async () => {
    await fleet.control(1);
    const pairs = Array.from({ length: REPETITIONS }, () => [fleet.key(), fleet.key()] as const);
    const replies = await Promise.all(
      pairs.map(async ([a, b]) => {
        const nesting = (key: string, inner: string): Order => ({
          key,
          plan: { ms: LOAD_MS, calls: { key: inner, ms: LOAD_MS } },
          policy: { ttl: '1m' },
        });
        const orders = [nesting(a, b), nesting(b, a)] as const;
        return fleet.workers.allWith('call', (index) => [orders[index === 0 ? 0 : 1]]);
      }),
    );
    const flat = replies.flat();
    const longest = Math.max(...flat.map(({ began, ended }) => ended - began));
    // Both processes held their own lease when they asked for the other's: they met.
    const met = flat.filter(({ began, ended }) => ended - began > NESTED_WAIT).length;
    measured('crossed loads', { longest, met });
    expect(errorsOf(flat)).toEqual([]);
    expect(flat).toHaveLength(2 * REPETITIONS);
    expect(met).toBeGreaterThan(0);
    // The machine's noise besides.
    expect(longest).toBeLessThanOrEqual(NESTED_WAIT + 2 * LOAD_MS + 300);
    for (const [a, b] of pairs) {
      const loads = (await fleet.source.count(a)) + (await fleet.source.count(b));
      expect(loads).toBeLessThanOrEqual(4);
    }
  }, 20_000);

  it('nest without waiting when they do not cross: one load each', async () => {
    await fleet.control(1);
    const [a, b] = [fleet.key(), fleet.key()];
    const order: Order = { key: a, plan: { ms: 10, calls: { key: b, ms: 10 } }, policy: { ttl: '1m' } };
    const replies = await fleet.workers.all('call', order);
    expect(errorsOf(replies)).toEqual([]);
    expect(await fleet.source.count(a)).toBe(1);
    expect(await fleet.source.count(b)).toBe(1);
  });
});
