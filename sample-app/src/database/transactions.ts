import { AsyncLocalStorage } from 'node:async_hooks';
import type { Pool, PoolClient } from 'pg';

interface Transaction {
  readonly client: PoolClient;
  isOpen: boolean;
}

/** The transaction around a call, by async context: whoever queries need not pass it on. */
export class Transactions {
  private readonly current = new AsyncLocalStorage<Transaction>();

  constructor(private readonly pool: Pool) {}

  get isInside(): boolean {
    return this.current.getStore()?.isOpen === true;
  }

  /** The connection of the transaction around this call, or else any of the pool's. */
  get connection(): Pick<Pool, 'query'> {
    const transaction = this.current.getStore();
    if (!transaction) return this.pool;
    if (transaction.isOpen) return transaction.client;
    throw new Error('The transaction around this query has ended: something in it was not awaited');
  }

  /** Commits when `work` resolves, rolls back when it rejects. */
  async run<R>(work: () => Promise<R>): Promise<R> {
    const client = await this.pool.connect();
    const transaction: Transaction = { client, isOpen: true };
    let broken: Error | undefined;
    try {
      await client.query('BEGIN');
      const result = await this.current.run(transaction, work);
      transaction.isOpen = false;
      await client.query('COMMIT');
      return result;
    } catch (error) {
      transaction.isOpen = false;
      await client.query('ROLLBACK').catch((problem: Error) => (broken = problem));
      throw error;
    } finally {
      client.release(broken); // a connection that can't even roll back is not used again
    }
  }
}
