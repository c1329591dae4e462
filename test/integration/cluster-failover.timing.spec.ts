import { setTimeout as delay } from 'node:timers/promises';
import { RedisCluster, type ClusterNode } from '../support/redis-cluster.js';
import { expectChangesWork, expectHealed, underLoad } from './failover/under-load.js';
import type { SteadyLoad } from './failover/steady-load.js';

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await RedisCluster.start({ proxied: true });
}, 40_000);
afterAll(() => cluster.stop(), 30_000);

/** Keys that a script has together lie in one slot, whatever happens to it. */
async function withoutCrossSlot(connections: readonly unknown[], run: (load: SteadyLoad) => Promise<void>) {
  await underLoad(connections, run);
  expect((await cluster.errors())['CROSSSLOT']).toBeUndefined();
}

/** The master of most keys of the load, and who would take its place. */
async function victim(load: SteadyLoad): Promise<{ master: ClusterNode; replica: ClusterNode }> {
  const master = await cluster.masterOf(await cluster.slotOf(entryName(load, 'k1')));
  return { master, replica: await cluster.replicaOf(master) };
}

/** A key of a master that the load does not ask for: what is invalidated may be loaded twice at once. */
async function probeOn(master: ClusterNode, load: SteadyLoad): Promise<string> {
  for (let at = 0; ; at++) {
    const slot = await cluster.slotOf(entryName(load, `probe${at}`));
    if ((await cluster.masterOf(slot)) === master) return `probe${at}`;
  }
}

const entryName = ({ first }: SteadyLoad, key: string): string => `shop:d:{${first.idOf(key)}}`;

describe('a cluster of three masters and three replicas, under steady load', () => {
  it('a slot moves to another master', async () => {
    await withoutCrossSlot([cluster.connection(), cluster.client()], async (load) => {
      const slot = await cluster.slotOf(entryName(load, 'k1'));
      const owner = await cluster.masterOf(slot);
      const to = (await cluster.masters()).find((node) => node !== owner) as ClusterNode; // there are three
      const move = await cluster.beginMove(slot, to);
      await delay(300);
      await move.keys();
      await move.end();
      await expectHealed(load);
      expect(await cluster.masterOf(slot)).toBe(to);
    });
  }, 30_000);

  it('a master is killed: changes fail or are made, and all is as before once its replica is promoted', async () => {
    await withoutCrossSlot([cluster.connection(), cluster.client()], async (load) => {
      const { master, replica } = await victim(load);
      const probe = await probeOn(master, load);
      const killed = performance.now();
      await master.server.kill();
      await load.isFelt(killed);
      await expect(load.first.invalidate(probe)).rejects.toMatchObject({ name: 'InvalidationError' });
      await cluster.promoted(replica);
      await expectHealed(load);
      await expectChangesWork(load);
      await cluster.revive(master);
    });
  }, 30_000);

  it.each(['swallows every byte', 'refuses connections'] as const)(
    'the way to a master that was just promoted %s',
    async (how) => {
      await withoutCrossSlot([cluster.connection(), cluster.connection()], async (load) => {
        const { replica } = await victim(load);
        const { proxy } = replica;
        if (how === 'swallows every byte') proxy?.blackHole();
        else proxy?.refuse();
        if (how === 'refuses connections') proxy?.cut();
        const cut = performance.now();
        await cluster.failOver(replica);
        await load.isFelt(cut);
        await delay(1500);
        proxy?.resume();
        await expectHealed(load);
      });
    },
    30_000,
  );
});
