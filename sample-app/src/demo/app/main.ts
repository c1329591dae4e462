import type { AddressInfo, Server } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { DemoModule } from './demo.module.js';
import { tellParent } from './messages.js';

async function main(): Promise<void> {
  // It lives exactly as long as its parent wants it, whatever ends the parent.
  process.once('disconnect', () => process.exit());
  // Ctrl-C goes to every process of the terminal; the parent decides.
  process.on('SIGINT', () => undefined);

  const [redisUrl, databaseUrl] = process.argv.slice(2);
  if (!redisUrl || !databaseUrl) throw new Error('Start it with the URLs of Redis and of the database');
  const app = await NestFactory.create<NestFastifyApplication>(
    DemoModule.forRoot({ redisUrl, databaseUrl }),
    new FastifyAdapter(), // the lighter one: callers, applications and servers share one machine
    { logger: ['error'], abortOnError: false },
  );
  await app.listen(0, '127.0.0.1');
  const server: Server = app.getHttpServer();
  // A server that listens on TCP has an address of this type.
  const { port } = server.address() as AddressInfo;
  tellParent({ kind: 'listening', url: `http://127.0.0.1:${port}` });
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
