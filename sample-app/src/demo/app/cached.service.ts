import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { LeaderboardDatabase, type Rank } from './leaderboard.database.js';

/** With the module. */
@Injectable()
export class CachedService {
  constructor(private readonly database: LeaderboardDatabase) {}

  @Cached({ ttl: '1s', stale: '5s' })
  async bestSellers(category: string): Promise<Rank[]> {
    return this.database.bestSellers(category);
  }
}
