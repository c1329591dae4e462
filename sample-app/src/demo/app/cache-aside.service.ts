import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { LeaderboardDatabase, type Rank } from './leaderboard.database.js';

/** Without the module: the cache as it is usually written. */
@Injectable()
export class CacheAsideService {
  constructor(
    private readonly redis: Redis,
    private readonly database: LeaderboardDatabase,
  ) {}

  async bestSellers(category: string): Promise<Rank[]> {
    const key = `leaderboard:${category}`;
    const cached = await this.redis.get(key);
    // This service wrote it.
    if (cached !== null) return JSON.parse(cached) as Rank[];

    const board = await this.database.bestSellers(category);
    await this.redis.set(key, JSON.stringify(board), 'PX', 1_000);
    return board;
  }
}
