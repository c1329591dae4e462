import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { RedisServer } from '../support/redis-server.js';
import { startWorkers } from '../support/processes.js';
import { until } from '../support/until.js';
import { CacheClient } from './fleet/cache-client.js';
import { RedisSentinel, type SentinelMember } from '../support/redis-sentinel.js';
import { expectChangesWork, expectHealed, underLoad } from './failover/under-load.js';

let group: RedisSentinel;

beforeAll(async () => {
  group = await RedisSentinel.start();
}, 40_000);
afterAll(() => group.stop(), 30_000);

async function roles(): Promise<{ master: SentinelMember; replica: SentinelMember }> {
  await group.whole();
  const master = await group.master();
  return { master, replica: group.other(master) };
}

describe('a master and a replica under three Sentinels, under steady load', () => {
  const handedIn: Redis[] = [];
  /** As an application makes it that trusts ioredis. */
  const instance = (): Redis => {
    const client = group.client();
    handedIn.push(client);
    return client;
  };
  afterEach(() => {
    for (const client of handedIn.splice(0)) client.disconnect();
  });

  it('the replica takes over as planned', async () => {
    await group.whole();
    await underLoad([group.connection(), group.connection()], async (load) => {
      await group.failOver();
      await expectHealed(load);
    });
  }, 30_000);

  it('the master freezes, and wakes up again', async () => {
    const { master, replica } = await roles();
    await underLoad([group.connection(), group.connection()], async (load) => {
      const frozen = performance.now();
      group.pause(master.server);
      try {
        await load.isFelt(frozen);
        await group.promoted(replica);
        await expectHealed(load);
      } finally {
        group.resume(master.server);
      }
    });
  }, 30_000);

  it('the master is killed: changes fail, and all is as before once the replica is promoted', async () => {
    const { master, replica } = await roles();
    await underLoad([group.connection(), instance()], async (load) => {
      const killed = performance.now();
      await master.server.kill();
      await load.isFelt(killed);
      await expect(load.first.invalidate('probe')).rejects.toMatchObject({ name: 'InvalidationError' });
      await group.promoted(replica);
      await expectHealed(load);
      await expectChangesWork(load);
    });
    await master.server.restart();
  }, 30_000);
});

describe('Sentinels that are away', () => {
  it('a frozen one is passed over at the start', async () => {
    const [frozen, ...others] = group.sentinels;
    if (frozen === undefined) throw new Error('three were started');
    group.pause(frozen);
    // The order is that of the list: the frozen one is asked first.
    const sentinels = [frozen, ...others].map(({ host, port }) => ({ host, port }));
    const client = await CacheClient.open({ connection: group.connection({ sentinels }), namespace: 'shop' });
    try {
      const stored = async () => (await client.entry('k', () => 1, { ttl: '1m' })).outcome === 'fresh';
      await until(stored, { what: 'a hit', timeout: 5000 });
    } finally {
      group.resume(frozen);
      await client.close();
    }
  }, 20_000);

  it('one that was killed does not keep the process alive after the cache is closed', async () => {
    const module = join(__dirname, 'failover', 'closing.worker.ts');
    const workers = await startWorkers<typeof import('./failover/closing.worker.js')>({ module, count: 1 });
    try {
      const worker = workers.at(0);
      expect(await worker.call('open', group.connection())).toBe(1);
      // The way to the master is watched by connections to every Sentinel.
      const watching = async (sentinel: RedisServer): Promise<boolean> => {
        return String(await sentinel.client().client('LIST')).includes('cmd=subscribe');
      };
      await until(async () => (await Promise.all(group.sentinels.map(watching))).every(Boolean), {
        what: 'the Sentinels to be watched',
      });
      const sockets = await worker.call('sockets');
      await group.sentinels[0]?.kill();
      expect(await worker.call('leftAfterClose', sockets)).toBe(0);
    } finally {
      await workers.stop();
    }
  }, 20_000);
});
