import { Cluster as ClusterClient, type ClusterOptions, type Redis } from 'ioredis';
import { freePort } from '../../support/free-port.js';
import { RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

const SLOTS = 16_384;
const MASTERS = 3;

interface Master {
  readonly server: RedisServer;
  readonly raw: Redis;
  readonly id: string;
}

/** Three masters on loopback that share the slots evenly. */
export class Cluster {
  private readonly clients: ClusterClient[] = [];
  /** Owners of slots that were moved. */
  private readonly moved = new Map<number, number>();

  private constructor(private readonly masters: readonly Master[]) {}

  static async start(): Promise<Cluster> {
    const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '5000'];
    const servers: RedisServer[] = [];
    for (let i = 0; i < MASTERS; i++)
      servers.push(await RedisServer.start({ port: await clusterPort(), args }));
    const clients = servers.map((server) => server.client());
    await Promise.all(clients.map((client, index) => client.call('CLUSTER', 'ADDSLOTS', ...slotsOf(index))));
    for (const other of servers.slice(1))
      await clients[0]?.call('CLUSTER', 'MEET', other.host, String(other.port));
    await until(async () => (await Promise.all(clients.map(agrees))).every(Boolean), {
      what: 'the cluster to agree',
      timeout: 20_000,
      every: 50,
    });
    const masters = clients.map(async (raw, index) => ({
      server: servers[index] as RedisServer, // one client each
      raw,
      id: String(await raw.call('CLUSTER', 'MYID')),
    }));
    return new Cluster(await Promise.all(masters));
  }

  get nodes(): { host: string; port: number }[] {
    return this.masters.map(({ server: { host, port } }) => ({ host, port }));
  }

  /** A client of the test's own, as a user would make it. */
  client(options: ClusterOptions = {}): ClusterClient {
    const client = new ClusterClient(this.nodes, options);
    client.on('error', () => undefined);
    this.clients.push(client);
    return client;
  }

  async reset(): Promise<void> {
    for (const client of this.clients.splice(0)) client.disconnect();
    await Promise.all(this.masters.map(({ raw }) => Promise.all([raw.flushall(), raw.config('RESETSTAT')])));
  }

  async stop(): Promise<void> {
    for (const client of this.clients.splice(0)) client.disconnect();
    await Promise.all(this.masters.map(({ server }) => server.stop()));
  }

  /** What a pattern finds on each master. */
  async keys(pattern: string): Promise<string[][]> {
    return Promise.all(this.masters.map(async ({ raw }) => (await raw.keys(pattern)).sort()));
  }

  /** The errors that the masters answered, by their first word. */
  async errors(): Promise<string[]> {
    const infos = await Promise.all(this.masters.map(({ raw }) => raw.info('errorstats')));
    return [
      ...new Set(infos.flatMap((info) => [...info.matchAll(/^errorstat_(\w+)/gm)].map((m) => m[1] ?? ''))),
    ];
  }

  async slotOf(key: string): Promise<number> {
    return Number(await this.any.call('CLUSTER', 'KEYSLOT', key));
  }

  /** Begins to move a slot to another master, and returns what ends the move: keys and all. */
  async beginMove(slot: number): Promise<() => Promise<void>> {
    const owner = this.moved.get(slot) ?? ownerOf(slot);
    const next = (owner + 1) % MASTERS;
    const [from, to] = [this.masters[owner] as Master, this.masters[next] as Master]; // there are three
    await to.raw.call('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', from.id);
    await from.raw.call('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', to.id);
    return async () => {
      const { host, port } = to.server;
      for (;;) {
        const keys = (await from.raw.call('CLUSTER', 'GETKEYSINSLOT', String(slot), '100')) as string[];
        if (keys.length === 0) break;
        await from.raw.call('MIGRATE', host, String(port), '', '0', '5000', 'KEYS', ...keys);
      }
      this.moved.set(slot, next);
      for (const { raw } of [to, from]) await raw.call('CLUSTER', 'SETSLOT', String(slot), 'NODE', to.id);
    };
  }

  private get any(): Redis {
    return (this.masters[0] as Master).raw; // three were started
  }
}

/** A cluster for the tests of one file. */
export function cluster(): () => Cluster {
  let one: Cluster;
  beforeAll(async () => {
    one = await Cluster.start();
  }, 40_000);
  afterEach(() => one.reset());
  afterAll(() => one.stop(), 30_000);
  return () => one;
}

/** A port whose bus port, 10 000 above, exists. */
async function clusterPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port < 55_000) return port;
  }
}

function firstSlot(index: number): number {
  return Math.floor((SLOTS * index) / MASTERS);
}

function slotsOf(index: number): string[] {
  const from = firstSlot(index);
  return Array.from({ length: firstSlot(index + 1) - from }, (_, slot) => String(from + slot));
}

/** Which master a slot was given to at the start. */
function ownerOf(slot: number): number {
  return [2, 1].find((index) => slot >= firstSlot(index)) ?? 0;
}

async function agrees(client: Redis): Promise<boolean> {
  const info = String(await client.call('CLUSTER', 'INFO'));
  return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${MASTERS}`);
}
