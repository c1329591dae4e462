import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A loopback port that was free a moment ago: whoever binds it must be ready to lose the race and try another. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has an AddressInfo; null and string belong to closed and to pipe servers.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
