import { randomInt } from 'node:crypto';
import { Cluster, type ClusterOptions, type Redis } from 'ioredis';
import { RedisServer } from './redis-server.js';
import { TcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

export interface RedisClusterOptions {
  /** Of each master. Default 1. */
  readonly replicas?: number;
  /** After how long of silence a node is taken for dead, ms. Default 1000. */
  readonly nodeTimeout?: number;
  /** Put a proxy in front of each node, which clients and replicas go through. Default false. */
  readonly proxied?: boolean;
}

export interface ClusterNode {
  readonly server: RedisServer;
  readonly id: string;
  /** For the test's own questions, past the proxy. */
  readonly admin: Redis;
  readonly proxy?: TcpProxy;
}

/** One line of CLUSTER NODES. */
interface Line {
  readonly id: string;
  readonly flags: readonly string[];
  readonly masterId: string;
  /** First and last slot of each stretch. */
  readonly slots: readonly (readonly [number, number])[];
}

const SLOTS = 16_384;
const MASTERS = 3;
const PORT_ATTEMPTS = 10;

/** Three masters and their replicas on loopback, sharing the slots evenly; usable about two seconds after the start. */
export class RedisCluster {
  private readonly clients: Cluster[] = [];
  private readonly paused = new Set<ClusterNode>();

  private constructor(readonly all: readonly ClusterNode[]) {}

  static async start(options: RedisClusterOptions = {}): Promise<RedisCluster> {
    const { replicas = 1 } = options;
    const nodes = await Promise.all(
      Array.from({ length: MASTERS * (1 + replicas) }, () => startNode(options)),
    );
    const cluster = new RedisCluster(nodes);
    await cluster.join(replicas);
    return cluster;
  }

  /** Where clients find it. */
  get nodes(): { host: string; port: number }[] {
    return this.all.map(({ server: { host, port }, proxy }) => ({ host, port: proxy?.port ?? port }));
  }

  /** The option `redis` of a cache on this cluster. */
  connection(options: ClusterOptions = {}): { nodes: object[]; options: ClusterOptions } {
    return { nodes: this.nodes, options };
  }

  /** A client as a user would make it; `stop()` disconnects it. */
  client(options: ClusterOptions = {}): Cluster {
    const client = new Cluster(this.nodes, options);
    client.on('error', () => undefined);
    this.clients.push(client);
    return client;
  }

  async slotOf(key: string): Promise<number> {
    return Number(await this.anyone.admin.call('CLUSTER', 'KEYSLOT', key));
  }

  /** The present masters, as a living node sees them. */
  async masters(): Promise<ClusterNode[]> {
    const serving = (await this.view()).filter(({ slots, flags }) => slots.length > 0 && isAlive(flags));
    return serving.map(({ id }) => this.node(id));
  }

  async masterOf(slot: number): Promise<ClusterNode> {
    const has = ({ slots }: Line): boolean => slots.some(([from, to]) => slot >= from && slot <= to);
    const owner = (await this.view()).find(has);
    if (owner === undefined) throw new Error(`nobody owns slot ${slot}`);
    return this.node(owner.id);
  }

  async replicaOf(master: ClusterNode): Promise<ClusterNode> {
    const replica = (await this.view()).find(
      ({ masterId, flags }) => masterId === master.id && isAlive(flags),
    );
    if (replica === undefined) throw new Error(`the node on port ${master.server.port} has no replica`);
    return this.node(replica.id);
  }

  /** It keeps its connections and says nothing any more. */
  pause(node: ClusterNode): void {
    node.server.pause();
    this.paused.add(node);
  }

  resume(node: ClusterNode): void {
    node.server.resume();
    this.paused.delete(node);
  }

  /** Resolves when every living node sees `node` as a master with slots, and the cluster in order. */
  async promoted(node: ClusterNode, timeout = 15_000): Promise<void> {
    await until(
      () => this.agreed((lines) => lines.some(({ id, slots }) => id === node.id && slots.length > 0)),
      {
        what: `the node on port ${node.server.port} to be promoted`,
        timeout,
        every: 20,
      },
    );
  }

  /** Starts a killed node again, and waits until it follows whoever took its place. */
  async revive(node: ClusterNode): Promise<void> {
    await node.server.restart();
    await until(() => this.follows(node), { what: 'the node to follow', every: 50 });
  }

  /** Waits until a node is a replica in step with its master. */
  async follows(node: ClusterNode): Promise<boolean> {
    return /role:slave[^]*master_link_status:up/.test(await node.admin.info('replication'));
  }

  /** A planned fail-over: the replica takes its master's place. */
  async failOver(replica: ClusterNode): Promise<void> {
    await replica.admin.call('CLUSTER', 'FAILOVER');
    await this.promoted(replica);
  }

  /** Begins to move a slot to another master, and returns the two steps that end it: its keys, and its owner. */
  async beginMove(slot: number, to: ClusterNode): Promise<{ keys(): Promise<void>; end(): Promise<void> }> {
    const from = await this.masterOf(slot);
    const set = (node: ClusterNode, ...args: string[]): Promise<unknown> =>
      node.admin.call('CLUSTER', 'SETSLOT', String(slot), ...args);
    await set(to, 'IMPORTING', from.id);
    await set(from, 'MIGRATING', to.id);
    const keys = () => this.migrate(slot, from, to);
    const end = async (): Promise<void> => {
      // Keys may have come in between; the server refuses to give up a slot that has any.
      await until(() => keys().then(() => set(from, 'NODE', to.id)), { what: 'the slot to be given up' });
      const masters = await this.masters();
      for (const node of [to, ...masters.filter((master) => master !== from)]) await set(node, 'NODE', to.id);
    };
    return { keys, end };
  }

  /** How often living nodes have refused a command, by the error's first word. */
  async errors(): Promise<Record<string, number>> {
    const sums: Record<string, number> = {};
    for (const { admin } of this.living()) {
      const found = (await admin.info('errorstats')).matchAll(/^errorstat_(\w+):count=(\d+)/gm);
      for (const [, name = '', count] of found) sums[name] = (sums[name] ?? 0) + Number(count);
    }
    return sums;
  }

  async stop(): Promise<void> {
    for (const client of this.clients.splice(0)) client.disconnect();
    await Promise.all(
      this.all.map(async ({ server, proxy }) => {
        await server.stop();
        await proxy?.close();
      }),
    );
  }

  private async join(replicas: number): Promise<void> {
    const masters = this.all.slice(0, MASTERS);
    const [first] = this.all;
    await Promise.all(masters.map(({ admin }, at) => admin.call('CLUSTER', 'ADDSLOTS', ...slotsOf(at))));
    for (const { server } of this.all.slice(1))
      await first?.admin.call('CLUSTER', 'MEET', server.host, String(server.port));
    const known = (lines: readonly Line[]): boolean => lines.length === this.all.length;
    await until(() => this.agreed(known, false), { what: 'the nodes to know each other', every: 20 });
    await Promise.all(
      this.all.slice(MASTERS).map(async ({ admin }, at) => {
        const master = masters[at % MASTERS];
        // It may not know that very node yet.
        await until(() => admin.call('CLUSTER', 'REPLICATE', master?.id ?? ''), { every: 20 });
      }),
    );
    if (replicas > 0) await this.replicate();
    await until(() => this.agreed(known), { what: 'the cluster to be usable', timeout: 20_000, every: 20 });
  }

  /** A replica that has received nothing yet is hidden from clients, and promoted last. */
  private async replicate(): Promise<void> {
    const replicas = this.all.slice(MASTERS);
    const inStep = async (): Promise<boolean> =>
      (await Promise.all(replicas.map((node) => this.follows(node)))).every(Boolean);
    await until(inStep, { what: 'the replicas to follow', timeout: 20_000, every: 20 });
  }

  /** Whether all living nodes see it that way. */
  private async agreed(look: (lines: readonly Line[]) => boolean, usable = true): Promise<boolean> {
    for (const { admin } of this.living()) {
      if (!look(parseNodes(String(await admin.call('CLUSTER', 'NODES'))))) return false;
      if (usable && !String(await admin.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) return false;
    }
    return true;
  }

  private async migrate(slot: number, from: ClusterNode, to: ClusterNode): Promise<void> {
    const { host, port } = to.server;
    for (;;) {
      const keys = (await from.admin.call('CLUSTER', 'GETKEYSINSLOT', String(slot), '100')) as string[];
      if (keys.length === 0) return;
      await from.admin.call('MIGRATE', host, String(port), '', '0', '5000', 'KEYS', ...keys);
    }
  }

  private async view(): Promise<Line[]> {
    return parseNodes(String(await this.anyone.admin.call('CLUSTER', 'NODES')));
  }

  /** Any node that answers. */
  private get anyone(): ClusterNode {
    const [node] = this.living();
    if (node === undefined) throw new Error('no node runs');
    return node;
  }

  private living(): ClusterNode[] {
    return this.all.filter((node) => node.server.running && !this.paused.has(node));
  }

  private node(id: string): ClusterNode {
    const node = this.all.find((each) => each.id === id);
    if (node === undefined) throw new Error(`no node ${id}`);
    return node;
  }
}

/** On ports that connections never take by themselves; the nodes talk to each other over those 10 000 above. */
async function startNode(options: RedisClusterOptions): Promise<ClusterNode> {
  for (let attempt = 1; ; attempt++) {
    const port = randomInt(11_000, 22_000);
    const proxy = options.proxied === true ? await TcpProxy.start({ port }) : undefined;
    try {
      const server = await RedisServer.start({ port, args: argumentsOf(port, proxy, options) });
      const admin = server.client({ maxRetriesPerRequest: null });
      const id = String(await admin.call('CLUSTER', 'MYID'));
      return { server, id, admin, ...(proxy !== undefined && { proxy }) };
    } catch (error) {
      await proxy?.close();
      if (attempt === PORT_ATTEMPTS || !String(error).includes('Address already in use')) throw error;
    }
  }
}

function argumentsOf(port: number, proxy: TcpProxy | undefined, options: RedisClusterOptions): string[] {
  const { nodeTimeout = 1000 } = options;
  // The nodes name the proxy to clients and replicas; ioredis's own `natMap` is forgotten at each redirection.
  const announced = [
    '--cluster-announce-port',
    String(proxy?.port),
    '--cluster-announce-bus-port',
    String(port + 10_000),
  ];
  return [
    ...['--cluster-enabled', 'yes', '--cluster-node-timeout', String(nodeTimeout)],
    ...(proxy === undefined ? [] : announced),
    // Else a replica waits 5 s for others before it gets its first copy.
    ...['--repl-diskless-sync-delay', '0'],
    // A replica that was just cut off is as good as any.
    ...['--cluster-replica-validity-factor', '0'],
  ];
}

function slotsOf(index: number): string[] {
  const first = (at: number): number => Math.floor((SLOTS * at) / MASTERS);
  return Array.from({ length: first(index + 1) - first(index) }, (_, slot) => String(first(index) + slot));
}

function isAlive(flags: readonly string[]): boolean {
  return !flags.some((flag) => flag.startsWith('fail') || flag === 'noaddr');
}

function parseNodes(text: string): Line[] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [id = '', , flags = '', masterId = '', , , , , ...slots] = line.split(' ');
      const stretches = slots.filter((slot) => /^\d/.test(slot)).map((slot) => slot.split('-').map(Number));
      return {
        id,
        flags: flags.split(','),
        masterId,
        slots: stretches.map(([from = NaN, to = from]) => [from, to] as const),
      };
    });
}
