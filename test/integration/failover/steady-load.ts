import { setTimeout as delay } from 'node:timers/promises';
import type { CacheOptions } from '../../../lib/core/cache-options.js';
import type { AnyPolicy } from '../../../lib/core/policy/index.js';
import { until } from '../../support/until.js';
import { CacheClient } from '../fleet/cache-client.js';

/** What one process of the fleet did with one key. */
interface KeyRecord {
  running: number;
  peak: number;
  /** When its loads began, monotonic ms. */
  readonly loads: number[];
  /** When it was last answered by Redis itself. */
  lastHit: number;
}

interface Member {
  readonly client: CacheClient;
  readonly records: readonly KeyRecord[];
}

export interface SteadyLoadOptions {
  readonly keys?: number;
  /** How often each process asks for each key, ms. */
  readonly every?: number;
  /** How long a load takes, ms; longer than `every`, so that calls meet. */
  readonly loadTime?: number;
  readonly policy?: AnyPolicy;
  readonly options?: CacheOptions;
}

/**
 * Two caches of one fleet, each asking for every key again and again, while the servers fall ill. Counts the loads by key
 * and process, and keeps what callers would have seen.
 */
export class SteadyLoad {
  readonly errors: unknown[] = [];
  private readonly members: Member[] = [];
  private readonly callers = new Set<Promise<void>>();
  private readonly options: Required<Omit<SteadyLoadOptions, 'options'>> & SteadyLoadOptions;
  private ended = false;
  private turning: Promise<void> = Promise.resolve();

  private constructor(options: SteadyLoadOptions) {
    this.options = { keys: 30, every: 40, loadTime: 60, policy: POLICY, ...options };
  }

  /** @param connections the option `redis` of each process */
  static async begin(connections: readonly unknown[], options: SteadyLoadOptions = {}): Promise<SteadyLoad> {
    const load = new SteadyLoad(options);
    for (const connection of connections) {
      // Room for a busy machine: a process that is late to read an answer is no outage.
      const cacheOptions = { redisTimeout: 400, ...options.options };
      const client = await CacheClient.open({ connection, namespace: 'shop', options: cacheOptions });
      load.members.push({ client, records: load.keys.map(() => newRecord()) });
    }
    load.turning = load.turn();
    try {
      await load.hitsSince(performance.now());
    } catch (error) {
      await load.end();
      throw error;
    }
    load.forget();
    return load;
  }

  get keys(): string[] {
    return Array.from({ length: this.options.keys }, (_, at) => `k${at}`);
  }

  /** The caches, one a process. */
  get clients(): CacheClient[] {
    return this.members.map(({ client }) => client);
  }

  get first(): CacheClient {
    return this.clients[0] as CacheClient; // there is always one
  }

  get last(): CacheClient {
    return this.clients.at(-1) as CacheClient;
  }

  /** Most loads of one key that ran in one process at once. */
  get peak(): number {
    return Math.max(...this.records().map(({ peak }) => peak));
  }

  /** Loads by key, in the whole fleet. */
  loadsSince(since: number): number[] {
    return this.keys.map((_, key) =>
      this.members.reduce((sum, { records }) => {
        return sum + (records[key] ?? newRecord()).loads.filter((at) => at >= since).length;
      }, 0),
    );
  }

  /** Resolves when each process had each key from Redis after `since`; answers how long that took, ms. */
  async hitsSince(since: number): Promise<number> {
    const missing = (): void => {
      for (const [at, { client, records }] of this.members.entries()) {
        const count = records.filter(({ lastHit }) => lastHit <= since).length;
        if (count > 0) throw new Error(`process ${at} has no hit on ${count} keys: ${client.state()}`);
      }
    };
    await until(() => (missing(), true), { what: 'hits on every key in every process', every: 5 });
    return performance.now() - since;
  }

  /** Waits until each process loads something, which shows that the outage is felt. */
  async isFelt(since: number): Promise<void> {
    const feels = ({ records }: Member): boolean =>
      records.some(({ loads }) => loads.some((at) => at >= since));
    await until(() => this.members.every(feels), {
      what: 'loads in the outage',
      every: 5,
    });
  }

  /** What each process thinks of its servers. */
  states(): unknown[] {
    return this.clients.map((client) => client.state());
  }

  /** Counts from here on. */
  forget(): void {
    for (const record of this.records()) Object.assign(record, { peak: record.running, loads: [] });
  }

  /** Whether the fleet is one again: every key is dropped, and each is then loaded how often? By key. */
  async loadsAfterInvalidation(): Promise<number[]> {
    const { first } = this;
    const since = performance.now();
    await Promise.all(this.keys.map((key) => first.invalidate(key)));
    await this.hitsSince(performance.now());
    await delay(2 * this.options.every);
    return this.loadsSince(since);
  }

  async end(): Promise<void> {
    this.ended = true;
    await this.turning;
    await Promise.all(this.callers);
    await Promise.all(this.clients.map((client) => client.close()));
  }

  private async turn(): Promise<void> {
    while (!this.ended) {
      for (const member of this.members) for (const key of this.keys.keys()) this.ask(member, key);
      await delay(this.options.every);
    }
  }

  private ask(member: Member, at: number): void {
    const caller = this.answer(member, at).catch((error: unknown) => void this.errors.push(error));
    this.callers.add(caller);
    void caller.then(() => this.callers.delete(caller));
  }

  private async answer({ client, records }: Member, at: number): Promise<void> {
    const record = records[at] as KeyRecord; // one a key
    const key = `k${at}`;
    const asked = performance.now();
    const { value, outcome } = await client.entry(key, () => this.load(record, key), this.options.policy);
    if (value !== `value of ${key}`) throw new Error(`${key} was answered with ${String(value)}`);
    if (outcome === 'fresh') record.lastHit = asked;
  }

  private async load(record: KeyRecord, key: string): Promise<string> {
    record.loads.push(performance.now());
    record.running += 1;
    record.peak = Math.max(record.peak, record.running);
    await delay(this.options.loadTime);
    record.running -= 1;
    return `value of ${key}`;
  }

  private records(): KeyRecord[] {
    return this.members.flatMap(({ records }) => records);
  }
}

/** Nothing but the illness is a reason to load. */
const POLICY: AnyPolicy = { ttl: '1h', earlyRefresh: 0 };

function newRecord(): KeyRecord {
  return { running: 0, peak: 0, loads: [], lastHit: -Infinity };
}
