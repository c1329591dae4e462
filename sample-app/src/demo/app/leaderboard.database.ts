import type { OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { now } from '../clock.js';
import { QUERY_TIME } from '../scenario.js';
import { tellParent } from './messages.js';

export interface Rank {
  readonly rank: number;
  readonly product: string;
  readonly sold: number;
}

/**
 * Adds up orders that exist only in this query, so that a database of yours stays as it is. The sleep stands in for the
 * millions of rows of a real one: it takes the time without taking the demo's processors.
 */
const LEADERBOARD = `
  WITH orders AS (
    SELECT $1::text || ' no. ' || 1 + n * 7919 % 50 AS product, 1 + n % 3 AS quantity
    FROM generate_series(1, 2000) AS n
  )
  SELECT
    rank() OVER (ORDER BY sum(quantity) DESC)::integer AS rank,
    product,
    sum(quantity)::integer AS sold
  FROM orders, pg_sleep(${QUERY_TIME / 1_000})
  GROUP BY product
  ORDER BY rank, product
  LIMIT 10
`;

/** The expensive query, and the tally of how often it is made. */
export class LeaderboardDatabase implements OnApplicationShutdown {
  private readonly pool: Pool;

  constructor(url: string) {
    // Ten connections, the default of `pg`: the eleventh query of this process waits until one of them is free.
    this.pool = new Pool({ connectionString: url, max: 10 });
    this.pool.on('error', () => undefined); // an idle connection that breaks is replaced at the next query
  }

  async bestSellers(category: string): Promise<Rank[]> {
    const connection = await this.pool.connect();
    // Now, not before: a query that waits for a connection has not reached the database.
    tellParent({ kind: 'query', at: now() });
    try {
      const { rows } = await connection.query<Rank>(LEADERBOARD, [category]);
      return rows;
    } finally {
      connection.release();
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}
