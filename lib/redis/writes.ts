import { isCluster, type ClientLike, type Corkable } from './redis-like.js';

/** Commands in one write, roughly: Redis should be at work on the first while the last are made. */
const MOST = 100;

/**
 * Lets the commands of one turn leave in a few writes. A client writes each for itself: for the leases of a thousand keys that
 * would be a thousand system calls, and Redis would be woken as often.
 */
export class Writes {
  private gathering: readonly Corkable[] = [];
  private count = 0;

  /**
   * Whatever is written to it from here on leaves after the promise callbacks that are due by now, and before those that what
   * runs now makes due: a caller that is answered finds sent what was sent for it.
   */
  gather(client: ClientLike): void {
    if (this.gathering.length > 0) {
      this.limit();
      return;
    }
    const sockets = socketsOf(client);
    if (sockets.length === 0) return;
    this.gathering = sockets;
    this.count = 1;
    for (const socket of sockets) socket.cork();
    queueMicrotask(() => {
      this.gathering = [];
      for (const socket of sockets) socket.uncork();
    });
  }

  private limit(): void {
    this.count += 1;
    if (this.count <= MOST) return;
    this.count = 1;
    for (const socket of this.gathering) {
      socket.uncork();
      socket.cork();
    }
  }
}

/** Of all its servers: which a command goes to is the client's affair. */
function socketsOf(client: ClientLike): readonly Corkable[] {
  const sockets = isCluster(client) ? client.nodes('all').map(({ stream }) => stream) : [client.stream];
  return sockets.filter((socket): socket is Corkable => typeof socket?.cork === 'function');
}
