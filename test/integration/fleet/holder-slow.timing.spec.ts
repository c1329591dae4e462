import { until } from '../../support/until.js';
import { errorsOf, Fleet, measured, serials } from './fleet.js';

const LEASE_MS = 400;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start({ processes: 4 });
}, 30_000);
afterAll(() => fleet.stop());

describe('A lease holder that is slow', () => {
  it('is never overtaken, though its load takes three leases', async () => {
    await fleet.control(10);
    const key = fleet.key();
    const order = { key, plan: { ms: 3 * LEASE_MS }, policy: { ttl: '1m', lease: LEASE_MS } } as const;
    const replies = (await fleet.workers.all('burst', order, 10)).flat();
    expect(errorsOf(replies)).toEqual([]);
    expect(serials(replies)).toEqual([1]);
    expect(await fleet.source.count(key)).toBe(1);
  });
});

describe('A lease holder that is frozen beyond its lease (FC-108)', () => {
  it('never overwrites the newer value; its own caller gets what it loaded', async () => {
    await fleet.control(1);
    const key = fleet.key();
    const [dataName, leaseName] = await Promise.all([fleet.dataKey(key), fleet.leaseKey(key)]);
    const client = fleet.redis.client();
    const frozen = fleet.workers.at(0);
    const policy = { ttl: '1m', lease: LEASE_MS } as const;
    const before = (await frozen.call('stats')).publishes;
    const old = frozen.call('call', { key, plan: { ms: 300 }, policy });
    await until(() => fleet.source.count(key), { what: 'the load to begin' });
    frozen.signal('SIGSTOP');
    const newer = await fleet.workers.call(1, 'call', { key, plan: { ms: 20 }, policy });
    const published = await client.getBuffer(dataName);
    frozen.signal('SIGCONT');

    const reply = await old;
    // What it sends about its end has arrived: its next answer comes behind it on the same connection.
    await frozen.call('inspect', key);
    const { publishes, leasesLost } = await frozen.call('stats');
    measured('frozen holder', { publishes, leasesLost });
    expect(newer.value?.serial).toBe(2);
    expect(reply.value?.serial).toBe(1);
    expect(publishes).toEqual({ ...before, fenced: before.fenced + 1 });
    expect(await client.getBuffer(dataName)).toEqual(published);
    expect(await client.exists(leaseName)).toBe(0);
    const later = (await fleet.workers.all('call', { key, plan: { ms: 20 }, policy })).flat();
    expect(serials(later)).toEqual([2]);
    expect(await fleet.source.count(key)).toBe(2);
  }, 20_000);

  it('does not touch the lease of a newer load that still runs', async () => {
    await fleet.control(1);
    const key = fleet.key();
    const leaseName = await fleet.leaseKey(key);
    const client = fleet.redis.client();
    const frozen = fleet.workers.at(0);
    const policy = { ttl: '1m', lease: LEASE_MS } as const;
    const old = frozen.call('call', { key, plan: { ms: 300 }, policy });
    await until(() => fleet.source.count(key), { what: 'the load to begin' });
    frozen.signal('SIGSTOP');
    const newer = fleet.workers.call(1, 'call', { key, plan: { ms: 800 }, policy });
    await until(async () => (await fleet.source.count(key)) === 2, { what: 'another to take over' });
    const lease = await client.getrange(leaseName, 0, 22);
    frozen.signal('SIGCONT');
    const reply = await old;
    await frozen.call('inspect', key);
    expect(await client.getrange(leaseName, 0, 22)).toBe(lease);
    // Its own load is over: it waits for the newer one.
    const late = await frozen.call('call', { key, plan: { ms: 20 }, policy });
    expect(reply.value?.serial).toBe(1);
    expect((await newer).value?.serial).toBe(2);
    expect(late.value?.serial).toBe(2);
    expect(await fleet.source.count(key)).toBe(2);
  }, 20_000);
});
