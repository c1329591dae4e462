import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { CommandCounts } from '../support/command-stats.js';
import { RedisServer, type RedisServerOptions } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { Gateway } from '../chaos/gateway.js';
import { CacheClient } from './fleet/cache-client.js';

/** How long a load takes, ms. */
export const LOAD = 20;
/** Longer than the default: noise of a busy machine must not count as silence. */
export const REDIS_TIMEOUT = 250;
const KEYS = 8;
const CALLERS = 5;

/** What a round of calls came to. */
export interface Round {
  /** Other than the loaded value, or an error. */
  readonly wrong: readonly string[];
  /** The most loads of one key. */
  readonly loads: number;
  /** Of the slowest call, ms. */
  readonly longest: number;
}

/** One cache on a Redis that falls ill, and its origin. */
export class Patient {
  private rounds = 0;

  private constructor(
    readonly name: string,
    readonly cache: CacheClient,
    /** Undefined: the cache made it itself. */
    readonly client: Redis | undefined,
  ) {}

  static async open(name: string, url: string, handsIn: boolean): Promise<Patient> {
    // With nothing but ioredis's own defaults.
    const client = handsIn ? new Redis(url) : undefined;
    client?.on('error', () => undefined);
    const options = { redisTimeout: REDIS_TIMEOUT, redisWriteTimeout: 500, coherence: { maxLag: 200 } };
    const cache = await CacheClient.open({ connection: client ?? url, namespace: name, options });
    cache.record();
    return new Patient(name, cache, client);
  }

  /** Calls at once, several for each of some keys nobody has asked for before. */
  async round(): Promise<Round> {
    this.rounds += 1;
    const loads = new Map<string, number>();
    const wrong: string[] = [];
    let longest = 0;
    const call = async (key: string): Promise<void> => {
      const began = performance.now();
      try {
        const { value } = await this.cache.entry(key, () => this.load(key, loads), { ttl: '1m' });
        if (value !== `of ${key}`) wrong.push(`${key}: ${String(value)}`);
      } catch (error) {
        wrong.push(`${key}: ${String(error)}`);
      }
      longest = Math.max(longest, performance.now() - began);
    };
    const keys = Array.from({ length: KEYS }, (_, index) => `r${this.rounds}-${index}`);
    await Promise.all(keys.flatMap((key) => Array.from({ length: CALLERS }, () => call(key))));
    return { wrong, loads: Math.max(...loads.values()), longest };
  }

  /** Resolves to how long it took until a hit came from Redis, ms. */
  async hitsAgain(timeout = 10_000): Promise<number> {
    const began = performance.now();
    const asked = async (): Promise<boolean> =>
      (await this.cache.entry('beacon', () => 'light', { ttl: '1m' })).outcome === 'fresh';
    await this.cache.invalidate('beacon').catch(() => undefined);
    await until(asked, { what: `${this.name}: a hit`, timeout, every: 20 });
    return performance.now() - began;
  }

  /** Commands that wait in the client handed in. */
  get queued(): number {
    // ioredis keeps both, and types neither.
    const { commandQueue, offlineQueue } = (this.client ?? {}) as Record<
      string,
      { readonly length: number } | undefined
    >;
    return (commandQueue?.length ?? 0) + (offlineQueue?.length ?? 0);
  }

  /** How often it told of a change of state. */
  count(type: 'redis.down' | 'redis.up'): number {
    return this.cache.events.filter((event) => event.type === type).length;
  }

  async close(): Promise<void> {
    await this.cache.close();
    this.client?.disconnect();
  }

  private async load(key: string, loads: Map<string, number>): Promise<string> {
    loads.set(key, (loads.get(key) ?? 0) + 1);
    await delay(LOAD);
    return `of ${key}`;
  }
}

/** A server, and two caches on it: one with a connection of its own, one with an instance handed in. */
export class Ward {
  private constructor(
    readonly server: RedisServer,
    readonly gateway: Gateway,
    readonly patients: readonly Patient[],
  ) {}

  static async open(options: RedisServerOptions = {}): Promise<Ward> {
    const server = await RedisServer.start(options);
    const gateway = await Gateway.start(server);
    const patients = await Promise.all([
      Patient.open('own', gateway.url, false),
      Patient.open('handed-in', gateway.url, true),
    ]);
    return new Ward(server, gateway, patients);
  }

  get raw(): Redis {
    return this.server.client({ maxRetriesPerRequest: 1 });
  }

  async close(): Promise<void> {
    await Promise.all(this.patients.map((patient) => patient.close()));
    await this.gateway.close();
    await this.server.stop();
  }
}

/** Makes every BGSAVE fail: its file cannot be put where a folder is. Returns the cure, without which the server can't end. */
export async function breakSaving(raw: Redis): Promise<() => Promise<void>> {
  const [, folder = ''] = (await raw.config('GET', 'dir')) as string[];
  const obstacle = join(folder, 'dump.rdb');
  await mkdir(obstacle);
  await raw.config('SET', 'save', '3600 1000000');
  await raw.bgsave();
  await saved(raw, 'err');
  let cured: Promise<void> | undefined;
  const cure = async (): Promise<void> => {
    await rmdir(obstacle);
    await raw.bgsave();
    await saved(raw, 'ok');
  };
  return () => (cured ??= cure());
}

async function saved(raw: Redis, status: string): Promise<void> {
  const ended = async (): Promise<boolean> => {
    const info = await raw.info('persistence');
    return info.includes('rdb_bgsave_in_progress:0') && info.includes(`rdb_last_bgsave_status:${status}`);
  };
  await until(ended, { what: `a BGSAVE that ends with ${status}` });
}

/** The commands of a cache among those counted. */
export const ofCaches = ({ get = 0, set = 0, evalsha = 0, eval: evals = 0 }: CommandCounts): number =>
  get + set + evalsha + evals;
