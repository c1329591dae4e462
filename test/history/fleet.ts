import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CacheOptions } from '../../lib/core/cache-options.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { WorkerProcess } from '../support/worker-process.js';
import type { Catalogue } from './catalogue.js';
import { machineNow } from './clock.js';
import { readRecords } from './recorder.js';
import type { HistoryRecord, Happening } from './records.js';
import type { CallOrder, ChangeOrder } from './orders.js';

type HistoryWorker = typeof import('./history.worker.js');
type Fault = Extract<Happening, { kind: 'fault' }>['fault'];

export interface HistoryFleetOptions {
  readonly processes: number;
  /** Which of them reach Redis through a proxy that can be cut, delayed and held. */
  readonly proxied: readonly number[];
  readonly catalogue: Catalogue;
  readonly options: CacheOptions;
  /** The root of the sources under test. Default: this project's. */
  readonly root?: string;
  /** The version of the entries that each process's build keeps. Default: none. */
  readonly versionOf?: (index: number) => string | undefined;
}

const ROOT = join(__dirname, '..', '..');
export const NAMESPACE = 'history';

/** Real processes with one cache, on a real Redis, with the origin on another; and whatever may happen to them. */
export class HistoryFleet {
  private readonly workers: WorkerProcess<HistoryWorker>[] = [];
  private readonly incarnations: number[] = [];
  private readonly ready: number[] = [];
  private readonly crashes: Error[] = [];
  /** The program's keys by their ids in Redis. */
  private readonly plainKeys = new Map<string, string>();
  private readonly faults: HistoryRecord[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'stampede-cache-history-'));

  private constructor(
    readonly redis: RedisServer,
    private readonly rows: RedisServer,
    private readonly proxies: ReadonlyMap<number, TcpProxy>,
    private readonly setup: HistoryFleetOptions,
  ) {}

  static async start(setup: HistoryFleetOptions): Promise<HistoryFleet> {
    const [redis, rows] = await Promise.all([RedisServer.start(), RedisServer.start()]);
    const proxies = new Map<number, TcpProxy>();
    const fleet = new HistoryFleet(redis, rows, proxies, setup);
    try {
      for (const index of setup.proxied) proxies.set(index, await TcpProxy.start(redis));
      await Promise.all(Array.from({ length: setup.processes }, (_, index) => fleet.spawn(index)));
    } catch (error) {
      await fleet.stop().catch(() => undefined);
      throw error;
    }
    return fleet;
  }

  get size(): number {
    return this.setup.processes;
  }

  at(index: number): WorkerProcess<HistoryWorker> {
    const worker = this.workers[index];
    if (!worker) throw new RangeError(`no process ${index}`);
    return worker;
  }

  proxy(index: number): TcpProxy {
    const proxy = this.proxies.get(index);
    if (!proxy) throw new RangeError(`process ${index} has no proxy`);
    return proxy;
  }

  /** How many processes have been ready for work in this place, one after the other. */
  opened(index: number): number {
    return this.ready[index] ?? 0;
  }

  call(index: number, order: CallOrder): ReturnType<HistoryWorker['call']> {
    const ended = this.at(index).call('call', order);
    ended.catch(() => undefined); // looked at later, if at all
    return ended;
  }

  async change(index: number, order: ChangeOrder): Promise<void> {
    const error = await this.at(index).call('change', order);
    if (error) throw new Error(`${order.change} failed: ${error.name}: ${error.message}`);
  }

  /** Resolves when a load of `key` has read its row there, and waits. */
  async holding(index: number, key: string, count = 1, timeout = 15_000): Promise<void> {
    const held = async (): Promise<boolean> => (await this.at(index).call('held', key)) >= count;
    await until(held, { what: `a load of ${key}`, timeout });
  }

  letGo(index: number, key: string, end: 'go' | 'fail' = 'go'): Promise<void> {
    return this.at(index).call('letGo', key, end);
  }

  /** The name of the key's entry in Redis. */
  async dataKey(key: string): Promise<string> {
    return `${NAMESPACE}:d:{${await this.at(0).call('idOf', key)}}`;
  }

  async leaseKey(key: string): Promise<string> {
    return `${NAMESPACE}:l:{${await this.at(0).call('idOf', key)}}`;
  }

  /** SIGKILL; another process takes its place. */
  async kill(index: number): Promise<void> {
    this.note(index, 'kill');
    await this.at(index).kill();
    await this.spawn(index);
  }

  /** SIGSTOP, and SIGCONT after `ms`. */
  async freeze(index: number, ms: number): Promise<void> {
    this.note(index, 'stop');
    this.at(index).signal('SIGSTOP');
    await delay(ms);
    this.at(index).signal('SIGCONT');
    this.note(index, 'cont');
  }

  /** Redis itself stands still for `ms`; what was sent meanwhile it executes then. */
  async pauseRedis(ms: number): Promise<void> {
    this.noteServer({ kind: 'fault', fault: 'pause' });
    this.redis.pause();
    await delay(ms);
    this.redis.resume();
    this.noteServer({ kind: 'fault', fault: 'resume' });
  }

  /** Something that happened to the server. */
  noteServer(happening: Happening, t = machineNow()): void {
    this.faults.push({ t, process: 'redis', ...happening });
  }

  /** The program's key by its id in Redis. */
  plainKey(id: string): string {
    return this.plainKeys.get(id) ?? id;
  }

  cut(index: number): void {
    this.note(index, 'cut');
    this.proxy(index).cut();
  }

  /** A process that ended though nobody killed it. */
  get crash(): Error | undefined {
    return this.crashes[0];
  }

  /** Lets every process finish what it does. */
  async quiesce(): Promise<void> {
    const settling = this.workers.map((worker) => worker.call('quiesce'));
    const late = delay(15_000, 'late', { ref: false });
    await Promise.race([Promise.allSettled(settling), late]);
    this.workers.forEach((_, index) => this.note(index, 'quiet'));
  }

  /** All records of all processes so far, in the order of their times. */
  records(): HistoryRecord[] {
    const own = readdirSync(this.folder).flatMap((file) => readRecords(join(this.folder, file)));
    return [...own, ...this.faults].sort((a, b) => a.t - b.t);
  }

  /** Ends everything. A process that does not end by itself is an error. */
  async stop(): Promise<void> {
    try {
      const ends = await Promise.allSettled(this.workers.map((worker) => worker.stop(8_000)));
      if (this.crash) throw this.crash;
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    } finally {
      await Promise.all([...this.proxies.values()].map((proxy) => proxy.close()));
      await Promise.all([this.redis.stop(), this.rows.stop()]);
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  private async spawn(index: number): Promise<void> {
    const incarnation = (this.incarnations[index] ?? 0) + 1;
    this.incarnations[index] = incarnation;
    const module = join(this.setup.root ?? ROOT, 'test', 'history', 'history.worker.ts');
    const worker = new WorkerProcess<HistoryWorker>({ index, module });
    this.workers[index] = worker;
    void worker.exited.then(({ code, signal }) => {
      if (code === 0 || signal === 'SIGKILL') return;
      this.crashes.push(new Error(`process ${index} ended by itself (${signal ?? code}):\n${worker.stderr}`));
    });
    await worker.started;
    const { options, catalogue, versionOf } = this.setup;
    const version = versionOf?.(index);
    await worker.call('open', {
      url: this.proxies.get(index)?.url ?? this.redis.url,
      namespace: NAMESPACE,
      originPort: this.rows.port,
      process: this.nameOf(index),
      records: join(this.folder, this.nameOf(index)),
      options,
      catalogue,
      ...(version !== undefined && { version }),
    });
    if (this.plainKeys.size === 0)
      for (const key of Object.keys(catalogue)) this.plainKeys.set(await worker.call('idOf', key), key);
    this.ready[index] = incarnation;
    this.note(index, 'born');
  }

  private nameOf(index: number): string {
    return `p${index}.${this.incarnations[index] ?? 0}`;
  }

  private note(index: number, fault: Fault): void {
    this.faults.push({ t: machineNow(), process: this.nameOf(index), kind: 'fault', fault });
  }
}
