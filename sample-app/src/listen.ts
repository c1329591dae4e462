import type { AddressInfo, Server } from 'node:net';
import { Logger, type INestApplication } from '@nestjs/common';

/** Listens on this port, or on any free one if it is taken. Returns the app's URL. */
export async function listen(app: INestApplication, port: number): Promise<string> {
  try {
    await app.listen(port);
  } catch (error) {
    if (!isAddressInUse(error)) throw error;
    new Logger('Shop').warn(`Port ${port} is taken, so the app takes a free one. Choose yours with PORT.`);
    await app.listen(0);
  }
  const server: Server = app.getHttpServer();
  // A server that listens on TCP has an address of this type.
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

function isAddressInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}
