import { Injectable } from '@nestjs/common';
import { Cached, parseDuration } from 'nestjs-stampede-cache';
import { Database } from '../database/database.js';

export interface BestSeller {
  readonly rank: number;
  readonly id: number;
  readonly name: string;
  readonly sold: number;
  /** In cents. */
  readonly revenue: number;
}

@Injectable()
export class LeaderboardService {
  constructor(private readonly database: Database) {}

  /**
   * Adds up every order there is, so no index helps. It is computed at most about every ten seconds, by one process of
   * all; for a minute more, visitors get the previous one at once while the next is computed.
   */
  @Cached({ ttl: parseDuration(process.env['LEADERBOARD_TTL'] ?? '10s'), stale: '1m' })
  async bestSellers(): Promise<BestSeller[]> {
    return this.database.query<BestSeller>(`
      SELECT
        rank() OVER (ORDER BY sum(orders.quantity::bigint * orders.price) DESC)::integer AS rank,
        products.id,
        products.name,
        sum(orders.quantity)::integer AS sold,
        sum(orders.quantity::bigint * orders.price)::float8 AS revenue
      FROM orders JOIN products ON products.id = orders.product_id
      GROUP BY products.id
      ORDER BY rank, products.id
      LIMIT 10
    `);
  }
}
