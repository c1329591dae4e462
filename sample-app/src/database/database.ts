import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Pool, QueryResultRow } from 'pg';
import type { DatabaseServer } from './database-server.js';
import { Transactions } from './transactions.js';

/** The one way to the database: it counts and logs every query, so that you can see what the cache keeps away. */
export class Database implements OnApplicationShutdown {
  private readonly logger = new Logger(Database.name);
  private readonly transactions: Transactions;
  private sent = 0;

  constructor(
    private readonly pool: Pool,
    private readonly server: DatabaseServer,
  ) {
    this.transactions = new Transactions(pool);
    // A connection that breaks while idle is replaced at the next query. Without a listener it would end the process.
    pool.on('error', (error) => {
      if (!pool.ending) this.logger.warn(`Lost an idle connection: ${error.message}`);
    });
  }

  /** How many queries have reached the database. */
  get queries(): number {
    return this.sent;
  }

  /** Whether this call is part of a transaction, which may see what nobody else may see yet. */
  get isInTransaction(): boolean {
    return this.transactions.isInside;
  }

  /** The queries of `work` commit together when it resolves, and leave nothing behind when it rejects. */
  async transaction<R>(work: () => Promise<R>): Promise<R> {
    return this.transactions.run(work);
  }

  async query<Row extends QueryResultRow>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const number = ++this.sent;
    const start = performance.now();
    let outcome = 'failed';
    try {
      const { rows } = await this.transactions.connection.query<Row>(sql, [...parameters]);
      outcome = `${rows.length} rows`;
      return rows;
    } finally {
      const duration = (performance.now() - start).toFixed(1);
      const line = sql.replace(/\s+/g, ' ').trim().slice(0, 80);
      this.logger.log(`Query ${number}: ${duration} ms, ${outcome}. ${line}… ${JSON.stringify(parameters)}`);
    }
  }

  /** The last hook of a shutdown: the HTTP server has answered every request by now. */
  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
    await this.server.stop?.();
  }
}
