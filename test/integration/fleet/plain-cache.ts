import { Redis } from 'ioredis';
import type { DataSource, LoadPlan } from './data-source.js';

/** Cache-aside as everybody writes it, for the control of a stampede: GET, load, SET, without any coordination. */
export class PlainCache {
  private readonly redis: Redis;

  constructor(
    url: string,
    private readonly source: DataSource,
  ) {
    this.redis = new Redis(url, { disconnectTimeout: 50 });
    this.redis.on('error', () => undefined);
  }

  /** First half: how many of `callers` miss. */
  async reads(key: string, callers: number): Promise<number> {
    const found = await Promise.all(Array.from({ length: callers }, () => this.redis.get(`plain:${key}`)));
    return found.filter((value) => value === null).length;
  }

  /** Second half: each that missed loads and writes. */
  async loads(key: string, missed: number, plan: LoadPlan): Promise<void> {
    const one = async (): Promise<void> => {
      const value = await this.source.load(`plain:${key}`, plan);
      await this.redis.set(`plain:${key}`, JSON.stringify(value), 'PX', 60_000);
    };
    await Promise.all(Array.from({ length: missed }, one));
    await this.source.settled();
  }

  close(): void {
    this.redis.disconnect();
  }
}
