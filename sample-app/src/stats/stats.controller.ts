import { Controller, Get } from '@nestjs/common';
import { StampedeCacheService, type StampedeCacheStats } from 'nestjs-stampede-cache';
import { Database } from '../database/database.js';

@Controller('stats')
export class StatsController {
  constructor(
    private readonly database: Database,
    private readonly cache: StampedeCacheService,
  ) {}

  @Get()
  stats(): { queries: number; cache: StampedeCacheStats } {
    return { queries: this.database.queries, cache: this.cache.stats() };
  }
}
