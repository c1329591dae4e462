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

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the writes of a turn', () => {
  it('leave together at its end, however often one is announced', async () => {
    const socket = new Socket();
    const writes = new Writes();
    writes.gather(socket);
    writes.gather(socket);
    expect(socket.seen).toEqual(['cork']);
    await turn();
    expect(socket.seen).toEqual(['cork', 'uncork']);
  });

  it('are held back no longer than the promises that are settled already take', async () => {
    const socket = new Socket();
    const writes = new Writes();
    await turn();
    writes.gather(socket);
    await Promise.resolve();
    writes.gather(socket);
    await Promise.resolve();
    socket.seen.push('last promise');
    await turn();
    expect(socket.seen).toEqual(['cork', 'last promise', 'uncork']);
  });

  it('are gathered anew in the next one, on the socket there is then', async () => {
    const [first, second] = [new Socket(), new Socket()];
    const writes = new Writes();
    writes.gather(first);
    await turn();
    writes.gather(second);
    await turn();
    expect(first.seen).toEqual(['cork', 'uncork']);
    expect(second.seen).toEqual(['cork', 'uncork']);
  });

  it.each([undefined, {}])('go as they are without such a socket: %p', async (socket) => {
    const writes = new Writes();
    expect(() => writes.gather(socket as Socket | undefined)).not.toThrow();
    const next = new Socket();
    writes.gather(next);
    expect(next.seen).toEqual(['cork']);
    await turn();
  });
});
