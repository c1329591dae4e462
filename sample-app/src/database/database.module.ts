import { Module, type DynamicModule } from '@nestjs/common';
import { Pool } from 'pg';
import { Database } from './database.js';
import type { DatabaseServer } from './database-server.js';
import { migrate } from './migrate.js';
import { UnitOfWork } from './unit-of-work.js';

export interface DatabaseOptions {
  readonly server: DatabaseServer;
  /** How many orders an empty database gets: the more, the slower the leaderboard. */
  readonly orders: number;
}

@Module({})
export class DatabaseModule {
  static forRoot({ server, orders }: DatabaseOptions): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      providers: [
        UnitOfWork,
        {
          provide: Database,
          useFactory: async () => {
            const pool = new Pool({ connectionString: server.url });
            try {
              await migrate(pool, { orders });
            } catch (error) {
              await pool.end();
              throw new Error(`The database cannot be used (${server.description}): ${reason(error)}`, {
                cause: error,
              });
            }
            return new Database(pool, server);
          },
        },
      ],
      exports: [Database, UnitOfWork],
    };
  }
}

function reason(error: unknown): string {
  // Node reports a host that refuses on each of its addresses as one error without a message.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
