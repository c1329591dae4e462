import type { ClientLike } from '../../../lib/redis/redis-like.js';
import { Writes } from '../../../lib/redis/writes.js';

class Socket {
  readonly seen: string[] = [];
  cork(): void {
    this.seen.push('cork');
  }
  uncork(): void {
    this.seen.push('uncork');
  }
}

/** As far as it is looked at. */
const clientOf = (stream: Socket | undefined): ClientLike => ({ stream }) as unknown as ClientLike;
const clusterOf = (...sockets: (Socket | undefined)[]): ClientLike =>
  ({ isCluster: true, nodes: () => sockets.map((stream) => ({ stream })) }) as unknown as ClientLike;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the writes of a turn', () => {
  it('leave together, however often one is announced', async () => {
    const socket = new Socket();
    const writes = new Writes();
    writes.gather(clientOf(socket));
    writes.gather(clientOf(socket));
    expect(socket.seen).toEqual(['cork']);
    await turn();
    expect(socket.seen).toEqual(['cork', 'uncork']);
  });

  it('wait for the callbacks that are due, and nobody who is answered meanwhile waits for them', async () => {
    const socket = new Socket();
    const writes = new Writes();
    const settled = Promise.resolve();
    const one = async (name: string): Promise<void> => {
      await settled;
      writes.gather(clientOf(socket));
      socket.seen.push(name);
      await Promise.resolve();
      socket.seen.push(`${name} answered`);
    };
    await Promise.all([one('a'), one('b'), one('c')]);
    expect(socket.seen).toEqual(['cork', 'a', 'b', 'c', 'uncork', 'a answered', 'b answered', 'c answered']);
  });

  it('leave a hundred at a time, while more are made', async () => {
    const socket = new Socket();
    const writes = new Writes();
    for (let i = 0; i < 100; i++) writes.gather(clientOf(socket));
    expect(socket.seen).toEqual(['cork']);
    writes.gather(clientOf(socket));
    expect(socket.seen).toEqual(['cork', 'uncork', 'cork']);
    for (let i = 0; i < 100; i++) writes.gather(clientOf(socket));
    expect(socket.seen).toEqual(['cork', 'uncork', 'cork', 'uncork', 'cork']);
    await turn();
    expect(socket.seen).toEqual(['cork', 'uncork', 'cork', 'uncork', 'cork', 'uncork']);
  });

  it('are gathered anew in the next one, on the socket there is then', async () => {
    const [first, second] = [new Socket(), new Socket()];
    const writes = new Writes();
    writes.gather(clientOf(first));
    await turn();
    writes.gather(clientOf(second));
    await turn();
    expect(first.seen).toEqual(['cork', 'uncork']);
    expect(second.seen).toEqual(['cork', 'uncork']);
  });

  it('are those to each server of a Cluster', async () => {
    const [first, second] = [new Socket(), new Socket()];
    const writes = new Writes();
    const cluster = clusterOf(first, undefined, second);
    for (let i = 0; i < 101; i++) writes.gather(cluster);
    await turn();
    for (const { seen } of [first, second]) expect(seen).toEqual(['cork', 'uncork', 'cork', 'uncork']);
  });

  it.each([undefined, {}])('go as they are without such a socket: %p', async (socket) => {
    const writes = new Writes();
    expect(() => writes.gather(clientOf(socket as Socket | undefined))).not.toThrow();
    const next = new Socket();
    writes.gather(clientOf(next));
    expect(next.seen).toEqual(['cork']);
    await turn();
  });
});
