import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { startWorkers, type Workers } from '../support/processes.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { Gateway } from './gateway.js';
import type { Report } from './records.js';
import type { Sabotage } from './sabotage.js';
import { PROCESSES } from './terms.js';

type Worker = typeof import('./chaos.worker.js');

export interface FleetOptions {
  readonly seed: number;
  /** By process: the ways in which its build is wrong. Default: in none. */
  readonly sabotage?: readonly (readonly Sabotage[])[];
}

const QUIET = ['--repl-diskless-sync-delay', '0', '--repl-backlog-size', '8mb'];
const DRAIN = 8_000;

/** The processes, each with a gateway to the Redis that is the master at present; its replica; the origin. */
export class ChaosFleet {
  private readonly clients = new Map<RedisServer, Redis>();
  private readonly gateways: Gateway[] = [];
  private workers?: Workers<Worker>;

  private constructor(
    private master: RedisServer,
    private replica: RedisServer,
    private readonly rows: RedisServer,
  ) {}

  static async start(options: FleetOptions): Promise<ChaosFleet> {
    const servers = [
      RedisServer.start({ args: QUIET }),
      RedisServer.start({ args: QUIET }),
      RedisServer.start(),
    ];
    const [master, replica, rows] = (await Promise.all(servers)) as [RedisServer, RedisServer, RedisServer]; // as above
    const fleet = new ChaosFleet(master, replica, rows);
    try {
      await fleet.follow(replica, master);
      for (let index = 0; index < PROCESSES; index++) fleet.gateways.push(await Gateway.start(master));
      await fleet.openAll(options);
    } catch (error) {
      await fleet.stop().catch(() => undefined);
      throw error;
    }
    return fleet;
  }

  get redis(): RedisServer {
    return this.master;
  }

  get other(): RedisServer {
    return this.replica;
  }

  get at(): readonly Gateway[] {
    return this.gateways;
  }

  /** A connection of the coordinator's own, past the gateways. */
  client(server: RedisServer = this.master): Redis {
    const known = this.clients.get(server);
    if (known) return known;
    const client = server.client({ retryStrategy: () => 20 });
    this.clients.set(server, client);
    return client;
  }

  async begin(): Promise<void> {
    await this.all.all('start');
  }

  /** By process: how long after `healed` its first hit came. */
  recovered(number: number, healed: number, patience: number): Promise<number[]> {
    return this.all.all('recovered', number, healed, patience);
  }

  finish(): Promise<Report[]> {
    return this.all.all('finish', DRAIN);
  }

  /** From now on the replica is the master, for whoever goes through a gateway. */
  swap(): void {
    [this.master, this.replica] = [this.replica, this.master];
    for (const gateway of this.gateways) gateway.moveTo(this.master);
  }

  async follow(replica: RedisServer, master: RedisServer): Promise<void> {
    await this.client(replica).replicaof(master.host, master.port);
    await this.inSync();
  }

  /** The replica has all that the master had a moment ago. */
  async inSync(): Promise<void> {
    const synced = async (): Promise<boolean> =>
      (await this.client(this.replica).info('replication')).includes('master_link_status:up') &&
      (await this.client(this.master).info('replication')).includes('state=online');
    await until(synced, { what: 'the replica to be in sync', every: 10 });
  }

  async stop(): Promise<void> {
    // Their connections to the gateways end first: what is left of an illness must not hold them up.
    const ended = await Promise.allSettled([this.workers?.stop()]);
    await Promise.all(this.gateways.map((gateway) => gateway.close()));
    await Promise.all([this.master, this.replica, this.rows].map((server) => server.stop()));
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
  }

  private get all(): Workers<Worker> {
    if (!this.workers) throw new Error('the processes were not started');
    return this.workers;
  }

  private async openAll({ seed, sabotage = [] }: FleetOptions): Promise<void> {
    const module = join(__dirname, 'chaos.worker.ts');
    this.workers = await startWorkers<Worker>({ module, count: PROCESSES });
    await this.workers.allWith('open', (index) => {
      const redis = this.gateways[index]?.url ?? '';
      const { port: originPort } = this.rows;
      return [
        {
          process: index,
          seed,
          redis,
          originPort,
          handsIn: index % 2 === 1,
          sabotage: sabotage[index] ?? [],
        },
      ];
    });
  }
}
