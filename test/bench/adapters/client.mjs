import { Redis } from '../root.mjs';

/** What an operator sets who wants an answer from a client although Redis has none. */
const IMPATIENT = { maxRetriesPerRequest: 1, enableOfflineQueue: false };

/** The options of an ioredis client; without `timeoutMs` they are its defaults. */
export function clientOptions(timeoutMs) {
  return timeoutMs ? { ...IMPATIENT, commandTimeout: timeoutMs } : {};
}

/** An ioredis client with its first connection made. */
export async function connect(url, timeoutMs, options = {}, Client = Redis) {
  const client = new Client(url, { ...clientOptions(timeoutMs), ...options });
  client.on('error', () => undefined);
  if (client.status !== 'ready') await new Promise((resolve) => client.once('ready', resolve));
  return client;
}
