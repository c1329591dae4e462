import { errorsOf, Fleet, measured, serials } from './fleet.js';
import { median, quantile } from './tally.js';

const PROCESSES = 4;
const CALLERS = 500;
const BURSTS = 20;
const WARM_UP = 5;
/** How long after the end of the load 99 % of the callers may still wait. Noise only adds: the quieter bursts tell. */
const LAG_MS = 15;
const SPIN_MS = 10;
const LOAD_MS = 100;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start({ processes: PROCESSES });
}, 30_000);
afterAll(() => fleet.stop());

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

async function burst(callers: number): Promise<number> {
  const key = fleet.key();
  const order = { key, plan: { ms: LOAD_MS }, policy: { ttl: '1m' } } as const;
  const replies = (await fleet.workers.all('burst', order, callers)).flat();
  const loads = await fleet.source.loads(key);
  expect(loads).toHaveLength(1);
  expect(errorsOf(replies)).toEqual([]);
  expect(replies).toHaveLength(PROCESSES * callers);
  expect(serials(replies)).toEqual([1]);
  const lags = replies.map(({ ended }) => ended - (loads[0]?.end ?? NaN)).sort((a, b) => a - b);
  return quantile(lags, 0.99);
}

/** How much longer these processes compute at present than they would on two cores of their own. */
async function yardstick(): Promise<number> {
  const took = await fleet.workers.all('spin', SPIN_MS);
  return Math.max(...took) / ((SPIN_MS * PROCESSES) / 2);
}

describe('A stampede of four processes on a missing key', () => {
  it(`is one load, and all ${PROCESSES * CALLERS} callers have the value within ${LAG_MS} ms of its end`, async () => {
    await fleet.control(CALLERS);
    for (let round = 0; round < WARM_UP; round++) await burst(CALLERS); // until the code is compiled
    const lags: number[] = [];
    const slowness: number[] = [];
    for (let round = 0; round < BURSTS; round++) {
      lags.push(await burst(CALLERS));
      slowness.push(await yardstick());
    }
    const busy = Math.max(1, median(slowness));
    measured('p99 of the callers after the end of the load, per burst, ms', {
      lags: lags.map(Math.round),
      busy,
    });
    lags.sort((a, b) => a - b);
    expect(quantile(lags, 0.25)).toBeLessThanOrEqual(LAG_MS * busy);
  }, 60_000);

  it('costs as many commands with 500 callers a process as with 5', async () => {
    await fleet.control(5);
    const few = sum(await fleet.redis.countCommands(() => burst(5)));
    const many = sum(await fleet.redis.countCommands(() => burst(CALLERS)));
    measured('commands, those within scripts included', { few, many });
    // Which of the four come before the owner has taken the lease is chance; each tells by a command or two.
    expect(many - few).toBeLessThanOrEqual(2 * PROCESSES);
    expect(many).toBeLessThan(100);
  }, 20_000);
});
