import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { StampedeCacheModuleOptions } from 'nestjs-stampede-cache';
import { startWorkers, type Workers } from '../../support/processes.js';
import { RedisServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';
import { NAMESPACE } from './field.js';
import type { Reply, WorkerSetup } from './field.worker.js';

type FieldWorker = typeof import('./field.worker.js');

export interface FleetOptions {
  readonly processes: number;
  readonly cache?: StampedeCacheModuleOptions;
  /** Whether each process reaches Redis over a proxy of its own. Default false. */
  readonly proxies?: boolean;
  readonly setupOf?: (index: number) => Partial<WorkerSetup>;
}

/** Real processes, each a Nest application with the cache, on one real Redis. For tests that kill or freeze them. */
export class Fleet {
  private constructor(
    readonly redis: RedisServer,
    readonly raw: Redis,
    readonly workers: Workers<FieldWorker>,
    private readonly proxies: readonly TcpProxy[],
  ) {}

  static async start({ processes, cache, proxies = false, setupOf }: FleetOptions): Promise<Fleet> {
    const module = join(__dirname, 'field.worker.ts');
    const [redis, workers] = await Promise.all([
      RedisServer.start(),
      startWorkers<FieldWorker>({ module, count: processes }),
    ]);
    const links = proxies ? workers.list.map(() => TcpProxy.start({ port: redis.port })) : [];
    const fleet = new Fleet(redis, redis.client(), workers, await Promise.all(links));
    try {
      await workers.allWith('open', (index) => [
        {
          cacheUrl: fleet.proxies[index]?.url ?? redis.url,
          booksUrl: redis.url,
          cache: {
            namespace: NAMESPACE,
            redisTimeout: '2s',
            redisWriteTimeout: '5s',
            ...cache,
            policy: { ttl: '1m', jitter: 0, earlyRefresh: 0, ...cache?.policy },
          },
          ...setupOf?.(index),
        },
      ]);
      return fleet;
    } catch (error) {
      await fleet.stop().catch(() => undefined);
      throw error;
    }
  }

  /** The link of process number `index`. */
  proxy(index: number): TcpProxy {
    const proxy = this.proxies[index];
    if (!proxy) throw new RangeError(`process ${index} has no proxy`);
    return proxy;
  }

  /** Which processes began to load the product, in order. */
  async loads(id: string): Promise<number[]> {
    return (await this.raw.lrange(`books:${id}`, 0, -1)).map(Number);
  }

  /** How many loads of the product came to their end. */
  async completions(id: string): Promise<number> {
    return Number(await this.raw.get(`ends:${id}`));
  }

  async loadsBegan(id: string, count: number): Promise<number[]> {
    const began = async () => (await this.loads(id)).length >= count;
    await until(began, { timeout: 10_000, what: `${count} loads of ${id} to begin` });
    return this.loads(id);
  }

  async dataKey(id: string): Promise<string> {
    return `${NAMESPACE}:d:{${await this.anyKeyOf(id)}}`;
  }

  async leaseKey(id: string): Promise<string> {
    return `${NAMESPACE}:l:{${await this.anyKeyOf(id)}}`;
  }

  /** Ends everything; a process that does not end by itself is an error. */
  async stop(): Promise<void> {
    try {
      await this.workers.stop();
    } finally {
      await Promise.all(this.proxies.map((proxy) => proxy.close()));
      await this.redis.stop();
    }
  }

  private async anyKeyOf(id: string): Promise<string> {
    const living = this.workers.list.find((worker) => worker.alive);
    if (!living) throw new Error('no process is left to ask');
    return living.call('keyOf', id);
  }
}

export function errorsOf(replies: readonly Reply[]): string[] {
  return replies.flatMap(({ error }) => (error ? [`${error.name}: ${error.message}`] : []));
}

/** The distinct loads whose values these callers got. */
export function serialsOf(replies: readonly Reply[]): number[] {
  return [...new Set(replies.map(({ value }) => value?.serial ?? 0))].sort((a, b) => a - b);
}
