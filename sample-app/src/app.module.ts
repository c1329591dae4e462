import { Module, type DynamicModule } from '@nestjs/common';
import { StampedeCacheModule } from 'nestjs-stampede-cache';
import { DatabaseModule, type DatabaseOptions } from './database/database.module.js';
import { LeaderboardModule } from './leaderboard/leaderboard.module.js';
import { ProductsModule } from './products/products.module.js';
import { StatsModule } from './stats/stats.module.js';

export interface ShopOptions {
  readonly database: DatabaseOptions;
  /** Left out: the cache lives in this process alone. */
  readonly redisUrl?: string;
}

@Module({})
export class AppModule {
  static forRoot({ database, redisUrl }: ShopOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        StampedeCacheModule.forRoot(redisUrl ? { redis: redisUrl, namespace: 'shop' } : {}),
        DatabaseModule.forRoot(database),
        ProductsModule,
        LeaderboardModule,
        StatsModule,
      ],
    };
  }
}
