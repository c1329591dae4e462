import { Module, type DynamicModule } from '@nestjs/common';
import { Redis } from 'ioredis';
import { StampedeCacheModule } from 'nestjs-stampede-cache';
import { CacheAsideService } from './cache-aside.service.js';
import { CachedService } from './cached.service.js';
import { LeaderboardDatabase } from './leaderboard.database.js';
import { LeaderboardsController } from './leaderboards.controller.js';

export interface DemoServers {
  readonly redisUrl: string;
  readonly databaseUrl: string;
}

@Module({})
export class DemoModule {
  static forRoot({ redisUrl, databaseUrl }: DemoServers): DynamicModule {
    return {
      module: DemoModule,
      imports: [StampedeCacheModule.forRoot({ redis: redisUrl, namespace: 'demo' })],
      controllers: [LeaderboardsController],
      providers: [
        { provide: LeaderboardDatabase, useFactory: () => new LeaderboardDatabase(databaseUrl) },
        { provide: Redis, useFactory: () => new Redis(redisUrl) },
        CacheAsideService,
        CachedService,
      ],
    };
  }
}
