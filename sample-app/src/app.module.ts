import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { StampedeCacheExceptionFilter, StampedeCacheModule, type Duration } from 'nestjs-stampede-cache';
import { CategoriesModule } from './categories/categories.module.js';
import { Database } from './database/database.js';
import { DatabaseModule, type DatabaseOptions } from './database/database.module.js';
import { LeaderboardModule } from './leaderboard/leaderboard.module.js';
import { ProductsModule } from './products/products.module.js';
import { StatsModule } from './stats/stats.module.js';

export interface ShopOptions {
  readonly database: DatabaseOptions;
  /** Left out: the cache lives in this process alone. */
  readonly redisUrl?: string;
  /** How long a request waits for Redis before it goes on without it. Left out: 100 ms. */
  readonly redisTimeout?: Duration;
}

@Module({})
export class AppModule {
  static forRoot({ database, redisUrl, redisTimeout }: ShopOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [
        StampedeCacheModule.forRootAsync({
          inject: [Database],
          useFactory: (db: Database) => ({
            ...(redisUrl && { redis: redisUrl, namespace: 'shop' }),
            ...(redisTimeout !== undefined && { redisTimeout }),
            // Within a transaction a cached method reads what the transaction sees, and keeps it to itself.
            bypass: () => db.isInTransaction,
          }),
        }),
        DatabaseModule.forRoot(database),
        ProductsModule,
        CategoriesModule,
        LeaderboardModule,
        StatsModule,
      ],
      // A request that is shed or waits too long: 503 with Retry-After.
      providers: [{ provide: APP_FILTER, useClass: StampedeCacheExceptionFilter }],
    };
  }
}
