import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { TcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

/** Answers every chunk with the same bytes. */
async function echoServer(): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  return server;
}

class Client {
  received = '';
  closed = false;
  private constructor(private readonly socket: Socket) {
    socket.on('data', (bytes) => (this.received += bytes.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => (this.closed = true));
  }
  static async to(port: number): Promise<Client> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new Client(socket);
  }
  send(text: string): void {
    this.socket.write(text);
  }
  end(): void {
    this.socket.end();
  }
}

describe('TcpProxy', () => {
  let echo: Server;
  let proxy: TcpProxy;
  let client: Client;

  beforeEach(async () => {
    echo = await echoServer();
    // It listens on TCP.
    proxy = await TcpProxy.start({ port: (echo.address() as AddressInfo).port });
    client = await Client.to(proxy.port);
  });

  afterEach(async () => {
    await proxy.close();
    echo.close();
    await once(echo, 'close');
  });

  const echoed = (text: string) => until(() => client.received === text, { what: `"${text}" to come back` });

  it('passes bytes both ways', async () => {
    client.send('hello');
    await echoed('hello');
    expect(proxy.connections).toBe(1);
  });

  it.each(['delayReplies', 'delayRequests'] as const)(
    '%s makes a round trip take that long',
    async (method) => {
      proxy[method](40);
      const start = performance.now();
      client.send('slow');
      await echoed('slow');
      expect(performance.now() - start).toBeGreaterThanOrEqual(40);

      proxy.resume();
      client.send('!');
      await echoed('slow!');
    },
  );

  it('keeps the order when the delays vary', async () => {
    const delays = [30, 0, 10, 0];
    proxy.delayReplies(() => delays.shift() ?? 0);
    for (const letter of ['a', 'b', 'c', 'd']) {
      const before = delays.length;
      client.send(letter);
      await until(() => delays.length < before, { what: 'the reply to enter the proxy' });
    }
    await echoed('abcd');
  });

  it('delivers after a black hole what was sent into it', async () => {
    proxy.blackHole();
    client.send('lost?');
    const other = await Client.to(proxy.port);
    other.send('also');
    await until(() => proxy.connections === 2);
    expect(client.received).toBe('');

    proxy.resume();
    await echoed('lost?');
    await until(() => other.received === 'also');
  });

  it('loses what a black hole held when the connection is cut', async () => {
    proxy.blackHole('replies');
    client.send('never answered');
    expect(proxy.cut()).toBe(1);
    await until(() => client.closed);
    proxy.resume();

    client = await Client.to(proxy.port);
    client.send('again');
    await echoed('again');
  });

  it('refuses new connections and leaves the open ones alone', async () => {
    client.send('a');
    await echoed('a');
    proxy.refuse();
    const late = connect({ port: proxy.port, host: '127.0.0.1' }).on('error', () => undefined);
    await until(() => late.closed, { what: 'the late connection to be reset' });
    client.send('b');
    await echoed('ab');
  });

  it('passes on the end of a stream behind the bytes before it', async () => {
    proxy.delayReplies(20);
    client.send('bye');
    client.end();
    await until(() => client.closed);
    expect(client.received).toBe('bye');
    await until(() => proxy.connections === 0, { what: 'the proxy to let go of the connection' });
  });
});
