import { Controller, Get, Param } from '@nestjs/common';
import { CacheAsideService } from './cache-aside.service.js';
import { CachedService } from './cached.service.js';
import type { Rank } from './leaderboard.database.js';

/** The same answer from the same query, by two ways. */
@Controller()
export class LeaderboardsController {
  constructor(
    private readonly cacheAside: CacheAsideService,
    private readonly cached: CachedService,
  ) {}

  @Get('cache-aside/:category')
  async byCacheAside(@Param('category') category: string): Promise<Rank[]> {
    return this.cacheAside.bestSellers(category);
  }

  @Get('cached/:category')
  async byCached(@Param('category') category: string): Promise<Rank[]> {
    return this.cached.bestSellers(category);
  }
}
