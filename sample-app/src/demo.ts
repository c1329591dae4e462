import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { startEmbeddedPostgres } from './database/embedded-postgres.js';
import { readArguments } from './demo/arguments.js';
import { Cleanup } from './demo/cleanup.js';
import { Fleet } from './demo/fleet.js';
import { expired, interrupted, Interruption } from './demo/interruption.js';
import { measure, warmUp, type Measurement } from './demo/measure.js';
import { picture } from './demo/picture.js';
import { Progress } from './demo/progress.js';
import { startRedis } from './demo/redis.js';
import { conclusion, results } from './demo/report.js';
import { CACHE_ASIDE, CACHED, CALLERS, LIMIT, PROCESSES, QUERY_TIME, TTL } from './demo/scenario.js';
import { readEnvironment } from './environment.js';

const INTRODUCTION =
  `${CALLERS} callers ask ${PROCESSES} NestJS processes for one leaderboard: a query of ${QUERY_TIME} ms, cached in ` +
  `Redis for ${TTL / 1_000} s. First by plain cache-aside, then by @Cached of nestjs-stampede-cache.`;

async function main(): Promise<void> {
  const { picture: file } = readArguments(process.argv.slice(2));
  const cleanup = new Cleanup();
  const progress = new Progress(process.stdout);
  try {
    await Promise.race([demonstrate(file, progress, cleanup), interrupted()]);
  } finally {
    await cleanup.run();
  }
}

async function demonstrate(file: string, progress: Progress, cleanup: Cleanup): Promise<void> {
  progress.say(`\n${INTRODUCTION}\n`);
  const fleet = await startFleet(progress, cleanup);
  const run = async () => {
    const origins = await fleet.ready();
    await warmUp(origins, [CACHE_ASIDE, CACHED]);
    const before = await measure(CACHE_ASIDE, origins, fleet, progress);
    return { before, after: await measure(CACHED, origins, fleet, progress) };
  };
  const { before, after } = await Promise.race([run(), fleet.broken, expired(LIMIT)]);
  progress.say(`\n${results([before, after])}\n\n${conclusion(before, after)}`);
  draw(file, before, after);
  progress.say(`The picture of it is in ${nameOf(file)}`);
}

async function startFleet(progress: Progress, cleanup: Cleanup): Promise<Fleet> {
  progress.say(`  Starting Redis, PostgreSQL and ${PROCESSES} applications…`);
  const redis = await startRedis();
  cleanup.defer(() => redis.stop());
  const database = readEnvironment(process.env).database ?? (await startEmbeddedPostgres());
  cleanup.defer(() => database.stop?.());
  const fleet = new Fleet(PROCESSES, { redisUrl: redis.url, databaseUrl: database.url });
  cleanup.defer(() => fleet.stop());
  return fleet;
}

function draw(file: string, before: Measurement, after: Measurement): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, picture(before, after));
}

function nameOf(file: string): string {
  const name = relative(process.cwd(), file);
  return name.startsWith('..') ? resolve(file) : name;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`\n${error instanceof Error ? error.message : String(error)}`);
    // Not `exitCode`: what was under way when it failed may hold connections that would keep the process alive.
    process.exit(error instanceof Interruption ? error.exitCode : 1);
  },
);
