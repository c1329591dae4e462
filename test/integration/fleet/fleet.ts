import { join } from 'node:path';
import type { CacheOptions } from '../../../lib/core/cache-options.js';
import { startWorkers, type Workers } from '../../support/processes.js';
import { RedisServer } from '../../support/redis-server.js';
import { control } from './control.js';
import { DataSource } from './data-source.js';
import type { Reply } from './fleet.worker.js';

type FleetWorker = typeof import('./fleet.worker.js');

export interface FleetOptions {
  readonly processes: number;
  readonly options?: CacheOptions;
  /** Where process number `index` finds Redis, if not at the server itself. */
  readonly urlOf?: (index: number, redis: RedisServer) => string | Promise<string>;
}

/** Noise of a busy machine must not count as "Redis is down". */
const PATIENT: CacheOptions = { redisTimeout: '2s', redisWriteTimeout: '5s' };

/** Real processes with the cache on one real Redis, and the data source behind them on another. */
export class Fleet {
  private keys = 0;

  private constructor(
    readonly redis: RedisServer,
    readonly source: DataSource,
    readonly workers: Workers<FleetWorker>,
    readonly namespace: string,
    private readonly books: RedisServer,
  ) {}

  static async start({ processes, options, urlOf }: FleetOptions): Promise<Fleet> {
    const redis = await RedisServer.start();
    const books = await RedisServer.start().catch(stopping(redis));
    const module = join(__dirname, 'fleet.worker.ts');
    const workers = await startWorkers<FleetWorker>({ module, count: processes }).catch(
      stopping(redis, books),
    );
    const fleet = new Fleet(redis, new DataSource(books.port), workers, 'shop', books);
    const urls = await Promise.all(
      workers.list.map(async ({ index }) => (await urlOf?.(index, redis)) ?? redis.url),
    );
    const shared = {
      namespace: fleet.namespace,
      sourcePort: books.port,
      options: { ...PATIENT, ...options },
    };
    await workers
      .allWith('open', (index) => [{ ...shared, url: urls[index] ?? redis.url }])
      .catch(stopping(fleet));
    return fleet;
  }

  /** The port of the data source, for caches in the test's own process. */
  get sourcePort(): number {
    return this.books.port;
  }

  /** A key nobody has used. */
  key(): string {
    this.keys += 1;
    return `product-${this.keys}`;
  }

  /** The name of the key's entry in Redis. */
  dataKey(key: string): Promise<string> {
    return this.rawKey('d', key);
  }

  leaseKey(key: string): Promise<string> {
    return this.rawKey('l', key);
  }

  /** Shows, on a key of its own, that plain cache-aside stampedes here: see control.ts. */
  async control(callers: number): Promise<void> {
    await control(this.workers, this.source, this.key(), callers);
  }

  /** Ends everything; a process that does not end by itself is an error. */
  async stop(): Promise<void> {
    try {
      await this.workers.stop();
    } finally {
      this.source.close();
      await Promise.all([this.redis.stop(), this.books.stop()]);
    }
  }

  private async rawKey(kind: 'd' | 'l', key: string): Promise<string> {
    const info = await this.workers.list.find((worker) => worker.alive)?.call('idOf', key);
    if (info === undefined) throw new Error('no process is left to ask');
    return `${this.namespace}:${kind}:{${info}}`;
  }
}

/** Ends what runs already when a later step of a start fails: a server left behind would keep Jest from ending. */
function stopping(...started: readonly { stop(): Promise<void> }[]): (error: unknown) => Promise<never> {
  return async (error) => {
    await Promise.allSettled(started.map((one) => one.stop()));
    throw error;
  };
}

/** The distinct loads whose values these callers got. */
export function serials(replies: readonly Reply[]): number[] {
  return [...new Set(replies.map(({ value }) => value?.serial ?? 0))].sort((a, b) => a - b);
}

export function errorsOf(replies: readonly Reply[]): string[] {
  return replies.flatMap(({ error }) => (error ? [`${error.name}: ${error.message}`] : []));
}

/** Figures, for whoever runs with DEBUG. */
export function measured(what: string, figures: object): void {
  if (process.env['DEBUG'] !== undefined) process.stderr.write(`${what}: ${JSON.stringify(figures)}\n`);
}
