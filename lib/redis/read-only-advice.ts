import type { Log } from '../core/ports.js';
import { clientOption, isCluster, type ClientLike } from './redis-like.js';

/**
 * Hears what commands failed with, and says once that a client handed in will stay with a server that is no primary any
 * more. Clients made here reconnect by themselves, and a Cluster redirects.
 */
export function readOnlyAdvice(client: ClientLike, owned: boolean, log: Log): (error: unknown) => void {
  let isSaid = owned || isCluster(client) || typeof clientOption(client, 'reconnectOnError') === 'function';
  return (error) => {
    if (isSaid || !(error instanceof Error) || !error.message.includes('READONLY')) return;
    isSaid = true;
    log.warn(ADVICE);
  };
}

const ADVICE =
  'Redis answered READONLY: the server became a replica. The client handed in has no reconnectOnError, so it stays there until its connection breaks, and nothing is stored. Create it with reconnectOnError: (error) => error.message.includes("READONLY").';
