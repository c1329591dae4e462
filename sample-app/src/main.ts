import { Logger, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { startEmbeddedPostgres } from './database/embedded-postgres.js';
import { readEnvironment } from './environment.js';
import { listen } from './listen.js';
import { welcome } from './welcome.js';

const logger = new Logger('Shop');

async function main(): Promise<void> {
  const { port, redis, ...environment } = readEnvironment(process.env);
  const database = environment.database ?? (await startEmbeddedPostgres());
  let app: INestApplication | undefined;
  try {
    const options = { database: { server: database, orders: 200_000 }, redisUrl: redis?.url };
    app = await NestFactory.create(AppModule.forRoot(options), { abortOnError: false });
    // On SIGINT or SIGTERM: answer the requests under way, then close the cache and the database.
    app.enableShutdownHooks([], { useProcessExit: true });
    const url = await listen(app, port);
    logger.log(welcome({ url, database: database.description, store: redis?.description }));
  } catch (error) {
    await app?.close();
    await database.stop?.();
    throw error;
  }
}

main().catch((error: unknown) => {
  logger.error(error instanceof Error ? error.message : error);
  // Not `exitCode`: an app that failed half-way may have left connections that would keep the process alive.
  process.exit(1);
});
