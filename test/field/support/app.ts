import type { INestApplicationContext, Type } from '@nestjs/common';
import { StampedeCacheService, type StampedeCacheEvent } from 'nestjs-stampede-cache';
import { until } from '../../support/until.js';

/** One running Nest application with the cache. */
export class App<N extends INestApplicationContext = INestApplicationContext> {
  /** Everything its cache told of. */
  readonly events: StampedeCacheEvent[] = [];
  readonly cache: StampedeCacheService;

  constructor(readonly nest: N) {
    this.cache = nest.get(StampedeCacheService, { strict: false });
    this.cache.events$.subscribe((event) => void this.events.push(event));
  }

  get<T>(type: Type<T>): T {
    return this.nest.get(type, { strict: false });
  }

  /** How often something happened. */
  count(type: StampedeCacheEvent['type']): number {
    return this.events.filter((event) => event.type === type).length;
  }

  async happened(type: StampedeCacheEvent['type'], times = 1): Promise<void> {
    await until(() => this.count(type) >= times, { what: `${times} x ${type}` });
  }

  /** Waits until so many callers of this application wait for a value. */
  async waiting(callers: number): Promise<void> {
    await until(() => this.cache.stats().active.callers === callers, { what: `${callers} callers to wait` });
  }

  async close(): Promise<void> {
    await this.nest.close();
  }
}
