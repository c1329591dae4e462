/** One process with a cache, and what it keeps the process alive with. */
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../support/until.js';
import { CacheClient } from '../fleet/cache-client.js';

let client: CacheClient;

const alive = (kind: string): number =>
  process.getActiveResourcesInfo().filter((each) => each === kind).length;

export async function open(connection: object): Promise<unknown> {
  client = await CacheClient.open({ connection, namespace: 'shop' });
  return (await client.entry('k', () => 1, { ttl: '1m' })).value;
}

export const sockets = (): number => alive('TCPSocketWrap');

/** Timers and sockets that are left some time after the cache was closed. */
export async function leftAfterClose(sockets: number): Promise<number> {
  // The end of a server is heard of later than it happens.
  await until(() => alive('TCPSocketWrap') < sockets, { what: 'a socket to end' });
  await delay(50);
  await client.close();
  await delay(500);
  return alive('Timeout') + alive('TCPSocketWrap');
}
