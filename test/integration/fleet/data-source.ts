import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { machineNow } from './machine-clock.js';

/** How one load behaves. */
export interface LoadPlan {
  /** How long the source takes, ms. */
  readonly ms: number;
  /** Drawn anew for each load instead: between 0 and `ms`. */
  readonly random?: boolean;
  /** The load makes this cached call first. */
  readonly calls?: { readonly key: string; readonly ms: number };
}

/** What a load returns: the row as it was when the load began, and which load it was. */
export interface Row {
  readonly row: string | null;
  readonly serial: number;
  readonly by: number;
}

/** One load in the books. `end` is missing when its process died in mid-load. */
export interface LoadRecord {
  readonly serial: number;
  readonly by: number;
  readonly begin: number;
  readonly end: number | undefined;
}

/** The error of an ill source that processes may know by its class. */
export class SourceDown extends Error {
  readonly code = 'SOURCE_DOWN';

  constructor(message = 'the source is down') {
    super(message);
    this.name = 'SourceDown';
  }
}

/**
 * The data source behind the caches of a fleet. It lives on a Redis of its own and keeps books: a load is written down
 * before it does anything, so that also those of a process that dies are counted.
 */
export class DataSource {
  private readonly client: Redis;
  private pending: Promise<unknown> = Promise.resolve();

  constructor(
    port: number,
    private readonly by = -1,
  ) {
    this.client = new Redis({ port, host: '127.0.0.1', disconnectTimeout: 50 });
    this.client.on('error', () => undefined);
  }

  async load(key: string, plan: LoadPlan): Promise<Row> {
    const { serial, row, illness } = await this.begin(key);
    await delay(plan.random === true ? Math.random() * plan.ms : plan.ms);
    this.end(key, serial);
    if (illness === 'known') throw new SourceDown();
    if (illness !== null) throw Object.assign(new TypeError(`secret: ${illness}`), { code: 'E_ILL' });
    return { row, serial, by: this.by };
  }

  /** Writes the beginning of a load down, and reads the row. */
  async begin(key: string): Promise<{ serial: number; row: string | null; illness: string | null }> {
    const record = JSON.stringify({ by: this.by, begin: machineNow() });
    const replies = await this.client
      .pipeline()
      .rpush(`loads:${key}`, record)
      .get(`row:${key}`)
      .get(`ill:${key}`)
      .exec();
    const [serial, row, illness] = (replies ?? []).map(([, reply]) => reply);
    return { serial: Number(serial), row: textOf(row), illness: textOf(illness) };
  }

  end(key: string, serial: number): void {
    this.pending = this.client.hset(`ends:${key}`, serial, machineNow());
  }

  /** Resolves when the books are up to date. */
  async settled(): Promise<void> {
    await this.pending;
  }

  /** The loads of a key over all processes, in the order of their beginning. */
  async loads(key: string): Promise<LoadRecord[]> {
    const [begins, ends] = await Promise.all([
      this.client.lrange(`loads:${key}`, 0, -1),
      this.client.hgetall(`ends:${key}`),
    ]);
    return begins.map((text, index) => {
      const end = ends[index + 1];
      // Written by `begin`.
      const { by, begin } = JSON.parse(text) as { by: number; begin: number };
      return { serial: index + 1, by, begin, end: end === undefined ? undefined : Number(end) };
    });
  }

  async count(key: string): Promise<number> {
    return this.client.llen(`loads:${key}`);
  }

  async update(key: string, row: string): Promise<void> {
    await this.client.set(`row:${key}`, row);
  }

  /** From now on loads of `key` fail; `known`: with the class {@link SourceDown}. */
  async ail(key: string, illness: 'known' | 'unknown'): Promise<void> {
    await this.client.set(`ill:${key}`, illness);
  }

  async heal(key: string): Promise<void> {
    await this.client.del(`ill:${key}`);
  }

  close(): void {
    this.client.disconnect();
  }
}

function textOf(reply: unknown): string | null {
  return typeof reply === 'string' ? reply : null;
}
