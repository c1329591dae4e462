import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Pipe } from './tcp-pipe.js';

export type Direction = 'requests' | 'replies';

export interface TcpProxyTarget {
  readonly port: number;
  readonly host?: string;
}

interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly pipes: Record<Direction, Pipe>;
}

/**
 * A proxy on loopback that makes a server slow, silent or gone. Delays and black holes concern the connections that
 * exist and those to come. Bytes are never reordered, and never lost while their connection lives: what a black hole
 * swallowed arrives on resume(), as TCP would send it again; only cut() loses it.
 */
export class TcpProxy {
  private readonly links = new Set<Link>();
  private readonly delays: Record<Direction, () => number> = { requests: () => 0, replies: () => 0 };
  private readonly held: Record<Direction, boolean> = { requests: false, replies: false };
  private refusing = false;

  private constructor(
    private readonly server: Server,
    private target: TcpProxyTarget,
  ) {
    server.on('connection', (client) => this.link(client));
  }

  static async start(target: TcpProxyTarget): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    const proxy = new TcpProxy(server, target);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    // It listens from start() to close(), on TCP.
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Open connections at this moment. */
  get connections(): number {
    return this.links.size;
  }

  /** From now on each chunk that the server sends arrives this many ms later. */
  delayReplies(ms: number | (() => number)): void {
    this.delays.replies = typeof ms === 'number' ? () => ms : ms;
  }

  /** From now on each chunk that a client sends arrives this many ms later. */
  delayRequests(ms: number | (() => number)): void {
    this.delays.requests = typeof ms === 'number' ? () => ms : ms;
  }

  /** Connections stay open and are still accepted, but nothing passes any more, in one direction or in both. */
  blackHole(direction: Direction | 'both' = 'both'): void {
    for (const each of ['requests', 'replies'] as const) {
      if (direction !== 'both' && direction !== each) continue;
      this.held[each] = true;
      for (const link of this.links) link.pipes[each].hold();
    }
  }

  /** Resets every open connection, and loses what was on its way. New ones are accepted. Returns how many were cut. */
  cut(): number {
    const cut = [...this.links];
    for (const link of cut) {
      reset(link.client);
      this.unlink(link);
    }
    return cut.length;
  }

  /** New connections go to another server, as when a name is pointed elsewhere; open ones stay where they are. */
  retarget(target: TcpProxyTarget): void {
    this.target = target;
  }

  /** Resets new connections as soon as they arrive; open ones live on. */
  refuse(): void {
    this.refusing = true;
  }

  /** Back to normal: no delay, no black hole, connections welcome. What was held arrives now. */
  resume(): void {
    this.refusing = false;
    for (const each of ['requests', 'replies'] as const) {
      this.delays[each] = () => 0;
      this.held[each] = false;
      for (const link of this.links) link.pipes[each].release();
    }
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.cut();
    await closed;
  }

  private link(client: Socket): void {
    if (this.refusing) {
      client.on('error', () => undefined);
      reset(client);
      return;
    }
    const { host = '127.0.0.1', port } = this.target;
    const upstream = connect({ host, port, allowHalfOpen: true, noDelay: true });
    const link: Link = {
      client,
      upstream,
      pipes: {
        requests: new Pipe(client, upstream, () => this.delays.requests()),
        replies: new Pipe(upstream, client, () => this.delays.replies()),
      },
    };
    this.links.add(link);
    for (const each of ['requests', 'replies'] as const) if (this.held[each]) link.pipes[each].hold();
    for (const socket of [client, upstream]) {
      socket.on('error', () => this.unlink(link));
      // One side may be gone while the other still waits for delayed bytes.
      socket.on('close', () => {
        if (client.closed && upstream.closed) this.unlink(link);
      });
    }
  }

  private unlink(link: Link): void {
    this.links.delete(link);
    for (const each of ['requests', 'replies'] as const) link.pipes[each].discard();
    link.client.destroy();
    link.upstream.destroy();
  }
}

/** libuv refuses to reset a socket whose shutdown is under way, and would leave its handle open. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
