import type { Redis, RedisOptions } from 'ioredis';
import { Redis as Client } from 'ioredis';
import { RedisServer } from './redis-server.js';
import { TcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

export interface RedisSentinelOptions {
  /** After how long of silence the master is taken for dead, ms. Default 1000. */
  readonly downAfter?: number;
  /** Put a proxy in front of each server; `connection()` goes through them. Default false. */
  readonly proxied?: boolean;
}

/** One of the two data servers. */
export interface SentinelMember {
  readonly server: RedisServer;
  /** For the test's own questions, past the proxy. */
  readonly admin: Redis;
  readonly proxy?: TcpProxy;
}

const SENTINELS = 3;
const QUORUM = 2;

/** A master, a replica in step with it, and three Sentinels that watch them, on loopback. */
export class RedisSentinel {
  readonly name = 'shop-master';
  private readonly paused = new Set<RedisServer>();

  private constructor(
    readonly members: readonly SentinelMember[],
    readonly sentinels: readonly RedisServer[],
  ) {}

  static async start({
    downAfter = 1000,
    proxied = false,
  }: RedisSentinelOptions = {}): Promise<RedisSentinel> {
    const members = await Promise.all([startMember(proxied), startMember(proxied)]);
    const [master, replica] = members;
    await replica.admin.replicaof(master.server.host, master.server.port);
    await until(() => inStep(replica), { what: 'the replica to follow', every: 20 });
    const name = 'shop-master';
    const sentinel = [
      `sentinel monitor ${name} ${master.server.host} ${master.server.port} ${QUORUM}`,
      `sentinel down-after-milliseconds ${name} ${downAfter}`,
      `sentinel failover-timeout ${name} 2500`,
    ];
    const sentinels = await Promise.all(
      Array.from({ length: SENTINELS }, () => RedisServer.start({ sentinel })),
    );
    // They look at the servers every ten seconds otherwise. Before Redis 7 that can't be changed: then it takes longer.
    const faster = ['INFO-PERIOD', '200', 'PUBLISH-PERIOD', '200', 'PING-PERIOD', '200'];
    const hurry = (client: Redis): Promise<unknown> => client.call('SENTINEL', 'DEBUG', ...faster);
    await Promise.all(sentinels.map((each) => ask(each, hurry).catch(() => undefined)));
    const group = new RedisSentinel(members, sentinels);
    await group.agreed();
    return group;
  }

  /** The option `redis` of a cache on this group. */
  connection(options: RedisOptions = {}): RedisOptions {
    const natMap = Object.fromEntries(
      this.members.map(({ server: { host, port }, proxy }) => [
        `${host}:${port}`,
        { host, port: proxy?.port ?? port },
      ]),
    );
    const sentinels = this.sentinels.map(({ host, port }) => ({ host, port }));
    return { sentinels, name: this.name, natMap, ...options };
  }

  /** A client as a user would make it; the test disconnects it. */
  client(options: RedisOptions = {}): Redis {
    const client = new Client(this.connection(options));
    client.on('error', () => undefined);
    return client;
  }

  /** The present master, as most of the Sentinels that answer see it. */
  async master(): Promise<SentinelMember> {
    const ports = await Promise.all(this.awake().map((sentinel) => this.masterPort(sentinel)));
    const [port] = ports.filter((each) => ports.filter((other) => other === each).length >= QUORUM);
    const member = this.members.find(({ server }) => server.port === port);
    if (member === undefined) throw new Error(`the Sentinels name ${ports.join()} as the master`);
    return member;
  }

  other(member: SentinelMember): SentinelMember {
    return this.members.find((each) => each !== member) as SentinelMember; // there are two
  }

  pause(server: RedisServer): void {
    server.pause();
    this.paused.add(server);
  }

  resume(server: RedisServer): void {
    server.resume();
    this.paused.delete(server);
  }

  /** Resolves when every Sentinel that answers names `member`, and it says itself that it is the master. */
  async promoted(member: SentinelMember): Promise<void> {
    const all = async (): Promise<boolean> => {
      const ports = await Promise.all(this.awake().map((sentinel) => this.masterPort(sentinel)));
      if (ports.some((port) => port !== member.server.port)) return false;
      return (await member.admin.info('replication')).includes('role:master');
    };
    await until(all, { what: `the server on port ${member.server.port} to be promoted`, every: 20 });
  }

  /** A planned fail-over; one that a busy machine was too slow for is begun anew. */
  async failOver(): Promise<SentinelMember> {
    const old = await this.master();
    const next = this.other(old);
    const [sentinel] = this.awake();
    if (sentinel === undefined) throw new Error('no Sentinel runs');
    const begun = async (): Promise<boolean> => {
      if ((await this.masterPort(sentinel)) === next.server.port) return true;
      await ask(sentinel, (client) => client.call('SENTINEL', 'FAILOVER', this.name)).catch(() => undefined);
      return false;
    };
    await until(begun, { what: 'the Sentinel to fail over', every: 100 });
    await this.promoted(next);
    return next;
  }

  /** Waits until the Sentinels know a healthy replica, in step with the master. */
  async whole(): Promise<void> {
    const replica = this.other(await this.master());
    await until(() => inStep(replica), { what: 'the old master to follow', every: 20 });
    await this.agreed();
  }

  async stop(): Promise<void> {
    await Promise.all(this.sentinels.map((sentinel) => sentinel.stop()));
    await Promise.all(
      this.members.map(async ({ server, proxy }) => {
        await server.stop();
        await proxy?.close();
      }),
    );
  }

  /** Every Sentinel knows the others, and a replica that can be promoted. */
  private async agreed(): Promise<void> {
    const knows = async (sentinel: RedisServer): Promise<boolean> => {
      const [line] = /^master0:.*$/m.exec(await ask(sentinel, (client) => client.info('sentinel'))) ?? [''];
      if (!line.includes('status=ok') || !line.includes(`sentinels=${SENTINELS}`)) return false;
      const replicas = await ask(sentinel, (client) => client.call('SENTINEL', 'REPLICAS', this.name));
      const text = String(replicas);
      return text.includes('master-link-status,ok') && !/s_down|o_down|disconnected/.test(text);
    };
    const all = async (): Promise<boolean> => (await Promise.all(this.awake().map(knows))).every(Boolean);
    await until(all, { what: 'the Sentinels to agree', timeout: 20_000, every: 50 });
  }

  private awake(): RedisServer[] {
    return this.sentinels.filter((sentinel) => sentinel.running && !this.paused.has(sentinel));
  }

  private async masterPort(sentinel: RedisServer): Promise<number> {
    const address = await ask(sentinel, (client) =>
      client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', this.name),
    );
    return Number((address as string[] | null)?.[1]);
  }
}

async function startMember(proxied: boolean): Promise<SentinelMember> {
  const server = await RedisServer.start({ args: ['--repl-diskless-sync-delay', '0'] });
  const admin = server.client({ maxRetriesPerRequest: null });
  return { server, admin, ...(proxied && { proxy: await TcpProxy.start({ port: server.port }) }) };
}

async function inStep({ admin }: SentinelMember): Promise<boolean> {
  return /role:slave[^]*master_link_status:up/.test(await admin.info('replication'));
}

async function ask<T>(sentinel: RedisServer, question: (client: Redis) => Promise<T>): Promise<T> {
  const client = sentinel.client({ maxRetriesPerRequest: 1, enableReadyCheck: false });
  try {
    return await question(client);
  } finally {
    client.disconnect();
  }
}
