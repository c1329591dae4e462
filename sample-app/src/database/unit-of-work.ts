import { Injectable, Logger } from '@nestjs/common';
import { InvalidationError, StampedeCacheService } from 'nestjs-stampede-cache';
import { Database } from './database.js';

/** A transaction of the database, and what follows from it in the cache. */
@Injectable()
export class UnitOfWork {
  private readonly logger = new Logger(UnitOfWork.name);

  constructor(
    private readonly database: Database,
    private readonly cache: StampedeCacheService,
  ) {}

  /**
   * Whatever `work` evicts or puts, by decorator or by hand, happens after the commit, and never after a rollback. Before the
   * commit, readers would load the old rows once more, and those would stay.
   */
  async run<R>(work: () => Promise<R>): Promise<R> {
    // Part of the transaction around it. It has no savepoint of its own, so its evictions must not be dropped on their own.
    if (this.database.isInTransaction) return work();
    try {
      return await this.cache.deferInvalidations(() => this.database.transaction(work));
    } catch (error) {
      if (!(error instanceof InvalidationError)) throw error;
      // It has committed, only Redis did not answer. This process distrusts the old entries, and goes on trying to evict them.
      this.logger.warn(error.message);
      return error.result as R; // what `work` resolved to
    }
  }
}
