import type { Redis } from 'ioredis';
import { until } from '../../support/until.js';
import { errorsOf, Fleet, measured, serials } from './fleet.js';
import type { Order } from './fleet.worker.js';

const LOAD_MS = 600;
const WAITERS = 20;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start({ processes: 2 });
}, 30_000);
afterAll(() => fleet.stop());

/** Starts a load in the first process and callers in the second, and returns once they wait for its end. */
async function waiting(): Promise<{
  order: Order;
  holder: Promise<unknown>;
  waiters: Promise<Awaited<ReturnType<typeof burst>>>;
}> {
  const key = fleet.key();
  const order: Order = { key, plan: { ms: LOAD_MS }, policy: { ttl: '1m' } };
  const holder = fleet.workers.call(0, 'call', order);
  await until(() => fleet.source.count(key), { what: 'the load to begin' });
  const waiters = burst(order);
  const raw = fleet.redis.client();
  const name = await fleet.leaseKey(key);
  await until(async () => (await raw.getrange(name, 23, 23)) === 'w', { what: 'the other process to wait' });
  raw.disconnect();
  return { order, holder, waiters };
}

async function subscribers(raw: Redis): Promise<number> {
  const [, count] = await raw.pubsub('NUMSUB', 'shop:wake');
  return Number(count);
}

const burst = (order: Order) => fleet.workers.call(1, 'burst', order, WAITERS);

async function lag({ order, holder, waiters }: Awaited<ReturnType<typeof waiting>>): Promise<number> {
  const replies = await waiters;
  await holder;
  const loads = await fleet.source.loads(order.key);
  expect(errorsOf(replies)).toEqual([]);
  expect(replies).toHaveLength(WAITERS);
  expect(serials(replies)).toEqual([1]);
  expect(loads).toHaveLength(1);
  return Math.max(...replies.map(({ ended }) => ended)) - (loads[0]?.end ?? NaN);
}

describe('Waiters whose wake-up can not reach them', () => {
  it('have the value soon after its publication when the subscribers are cut off in mid-wait', async () => {
    await fleet.control(10);
    const wait = await waiting();
    const raw = fleet.redis.client();
    expect(await raw.call('CLIENT', 'KILL', 'TYPE', 'pubsub')).toBe(2);
    const took = await lag(wait);
    measured('after a cut', { took });
    expect(took).toBeLessThanOrEqual(300);
  }, 10_000);

  it('have it when no subscriber can come back before the load ends', async () => {
    await fleet.control(10);
    const wait = await waiting();
    const raw = fleet.redis.client();
    // Redis cuts off those who are subscribed to what they may not hear any more, and refuses their return.
    await raw.call('ACL', 'SETUSER', 'default', 'resetchannels');
    await until(async () => (await subscribers(raw)) === 0, { what: 'the subscribers to be cut off' });
    const took = await lag(wait);
    expect(await subscribers(raw)).toBe(0);
    await raw.call('ACL', 'SETUSER', 'default', 'allchannels');
    measured('without any push', { took });
    expect(took).toBeLessThanOrEqual(300);
  }, 10_000);

  it('are woken by a push again afterwards', async () => {
    const raw = fleet.redis.client();
    await until(async () => (await subscribers(raw)) === 2, {
      timeout: 8_000,
      what: 'both processes to subscribe again',
    });
    const wait = await waiting();
    const took = await lag(wait);
    measured('once back', { took });
    expect(took).toBeLessThanOrEqual(100);
  }, 15_000);
});
