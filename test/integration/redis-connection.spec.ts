import type { Redis } from 'ioredis';
import { freshKey, freshToken, LONG } from '../contract/subject.js';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { closeProxy, entryBytes, makeStore, request, subjectOf } from './redis-store-kit.js';

let server: RedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  admin = server.client();
});
afterAll(() => server.stop());

const listenerCount = (client: Redis): number =>
  client.eventNames().reduce((sum, name) => sum + client.listenerCount(name), 0);

/** How many clients the server has besides the one that asks. */
const others = async (from: Redis = admin): Promise<number> =>
  String(await from.client('LIST'))
    .trim()
    .split('\n').length - 1;

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

describe('a database that can not be selected', () => {
  it('is refused, and nothing is written to another one', async () => {
    const { store } = await makeStore(`${server.url}/99`);
    await store.open();
    expect(store.refusal).toMatch(/database can't be selected \(ERR DB index is out of range\)/);
    await expect(store.read(freshKey())).rejects.toThrow("can't be selected");
    await store.close();
  });

  it('is used once it can be: when the user got the right to', async () => {
    await admin.call('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@all', '-select');
    const states: string[] = [];
    const { store } = await makeStore(`redis://limited:secret@${server.host}:${server.port}/5`, {
      onState: (state) => void states.push(state),
    });
    await store.open();
    expect(states).toEqual(['down']);
    await admin.call('ACL', 'SETUSER', 'limited', '+select');
    await admin.call('CLIENT', 'KILL', 'USER', 'limited');
    await until(() => states.at(-1) === 'up');
    await store.close();
  });
});

describe('a client handed in', () => {
  it('stays open and usable after close, with the listeners it had', async () => {
    const client = server.client();
    await until(() => client.status === 'ready');
    const before = listenerCount(client);
    const { store } = await makeStore(client);
    await store.open();
    await subjectOf(store).publish();
    expect(listenerCount(client)).toBeGreaterThan(before);
    await store.close();
    expect(listenerCount(client)).toBe(before);
    expect(await client.ping()).toBe('PONG');
  });

  it('leaves no connection of the store behind', async () => {
    const client = server.client();
    await until(() => client.status === 'ready');
    const before = await others();
    const { store } = await makeStore(client);
    await store.open();
    expect(await others()).toBe(before + 1);
    await store.close();
    await until(async () => (await others()) === before, { what: 'the subscriber to go' });
  });

  it('serves two stores, also when one of them is closed', async () => {
    const client = server.client();
    const [one, two] = [await makeStore(client), await makeStore(client, { namespace: 'other' })];
    await Promise.all([one.store.open(), two.store.open()]);
    const key = freshKey();
    expect(await one.store.acquire(key, request())).toMatchObject({ code: 'owner' });
    expect(await two.store.acquire(key, request())).toMatchObject({ code: 'owner' });
    await one.store.close();
    expect(await two.store.acquire(freshKey(), request())).toMatchObject({ code: 'owner' });
    await two.store.close();
  });

  it('is connected if it is lazy', async () => {
    const { store } = await makeStore(server.client({ lazyConnect: true }));
    await store.open();
    expect(store.isUp()).toBe(true);
    await store.close();
  });

  it('is not used while it is not connected: nothing piles up, nothing runs later', async () => {
    const port = await freePort();
    const client = server.client({ port, maxRetriesPerRequest: null, retryStrategy: () => 20 });
    const { store, states } = await makeStore(client);
    await store.open();
    const key = freshKey();
    const token = freshToken();
    const bytes = entryBytes(token, Buffer.from('1'));
    const commands = [
      store.read(key),
      store.acquire(key, request()),
      store.commit(key, { token, bytes, hardMs: LONG, rejectedId: '' }),
      store.touch(key, { token, entryId: token, head: bytes, hardMs: LONG }),
      store.renew(key, token, LONG),
      store.release(key, { token, outcome: '' }),
      store.put(key, { token, bytes, hardMs: LONG, notAfter: store.now() + LONG }),
      store.write(key, bytes, LONG),
      store.invalidate(key, 0),
      store.peek(key),
    ];
    const took = await timed(async () => {
      for (const result of await Promise.allSettled(commands)) {
        expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailable' } });
      }
    });
    expect(took).toBeLessThan(100);
    // An internal of ioredis: where commands wait for a connection.
    const { offlineQueue } = client as unknown as { offlineQueue: { length: number } };
    expect(offlineQueue.length).toBe(0);
    expect(states).toEqual([expect.stringMatching(/^down: .*ECONNREFUSED/)]);

    const late = await RedisServer.start({ port });
    await until(() => store.isUp() && states.length === 2, { what: 'the store to join in' });
    expect(states[1]).toBe('up: connected');
    expect(await late.client().dbsize()).toBe(0);
    await store.close();
    client.disconnect();
    await late.stop();
  });
});

describe('a connection made from options', () => {
  it.each([
    ['a URL', () => server.url],
    ['a URL with a database', () => `${server.url}/2`],
    ['options', () => ({ host: '127.0.0.1', port: server.port })],
  ])('works from %s, and is closed with the store', async (_, option) => {
    const before = await others();
    const { store } = await makeStore(option());
    await store.open();
    await subjectOf(store).publish();
    expect(await others()).toBe(before + 2);
    await store.close();
    await until(async () => (await others()) === before, { what: 'both connections to go' });
  });

  it('refuses commands once it is closed', async () => {
    const { store } = await makeStore(server.url);
    await store.open();
    await Promise.all([store.close(), store.close()]);
    await expect(store.read(freshKey())).rejects.toThrow('closed');
    await store.close();
  });

  it('does not write a password into what it says', async () => {
    const own = await RedisServer.start({ users: ['default on >right ~* &* +@all'] });
    const { store, states, pushes } = await makeStore(`redis://default:wr0ng-secret@127.0.0.1:${own.port}`);
    await store.open();
    const failure = await store.read(freshKey()).catch((error: unknown) => error);
    await until(() => states.length > 0);
    expect([...states, ...pushes, String(failure)].join('\n')).toMatch(/WRONGPASS/);
    expect([...states, ...pushes, String(failure)].join('\n')).not.toContain('wr0ng');
    await store.close();
    await own.stop();
  });
});

describe('opening', () => {
  it('waits for both connections', async () => {
    const { store, states, pushes } = await makeStore(server.url);
    await store.open();
    expect([states, pushes]).toEqual([['up: connected'], ['up: subscribed']]);
    await store.close();
  });

  it('ends soon when nobody listens there, and rejects nothing', async () => {
    const { store, states } = await makeStore({ host: '127.0.0.1', port: await freePort() });
    expect(await timed(() => store.open())).toBeLessThan(1400);
    expect(states).toEqual([expect.stringMatching(/^down: .*ECONNREFUSED/)]);
    await store.close();
  });

  it('ends within its bound when the server is silent', async () => {
    const proxy = await TcpProxy.start({ port: server.port });
    proxy.blackHole();
    const { store, states } = await makeStore(proxy.url);
    expect(await timed(() => store.open())).toBeLessThan(1400);
    expect(states).toEqual([expect.stringMatching(/^down: no answer/)]);
    expect(await timed(() => store.close())).toBeLessThan(1400);
    await closeProxy(proxy);
  });

  it.each([
    ['6.0.16', '# Server\r\nredis_version:6.0.16\r\n'],
    ['Valkey 7.1.9', '# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:7.1.9\r\n'],
  ])('refuses a server of version %s by name', async (version, info) => {
    const client = server.client();
    const call = client.call.bind(client);
    // The only part that is not real: what an old server would say about itself.
    client.call = ((command: string, ...args: string[]) =>
      command === 'INFO' ? Promise.resolve(info) : call(command, ...args)) as typeof client.call;
    const { store, states } = await makeStore(client);
    await store.open();
    expect(store.refusal).toContain(version);
    expect(store.refusal).toContain('Redis >= 6.2 or Valkey >= 7.2');
    expect(states).toEqual([`down: ${store.refusal}`]);
    await expect(store.read(freshKey())).rejects.toThrow(version);
    await store.close();
  });

  it('does without the version where the user may not ask for it, and says so', async () => {
    const own = await RedisServer.start({ users: ['app on >secret ~* &* +@all -info'] });
    const { store, warnings } = await makeStore({
      port: own.port,
      username: 'app',
      password: 'secret',
      // ioredis's own check asks for INFO too, and complains on the console.
      enableReadyCheck: false,
    });
    await store.open();
    expect(store.isUp()).toBe(true);
    expect(warnings).toEqual([expect.stringContaining('version')]);
    await store.close();
    await own.stop();
  });
});

describe('closing', () => {
  const cases: [
    string,
    () => Promise<{ store: Awaited<ReturnType<typeof makeStore>>['store']; end: () => Promise<unknown> }>,
  ][] = [
    [
      'that was never opened',
      async () => ({ ...(await makeStore(server.url)), end: () => Promise.resolve() }),
    ],
    [
      'that is just opening',
      async () => {
        const kit = await makeStore(server.url);
        void kit.store.open();
        return { ...kit, end: () => Promise.resolve() };
      },
    ],
    [
      'that is connected',
      async () => {
        const kit = await makeStore(server.url);
        await kit.store.open();
        return { ...kit, end: () => Promise.resolve() };
      },
    ],
    [
      'that is reconnecting',
      async () => {
        const own = await RedisServer.start();
        const kit = await makeStore(own.url);
        await kit.store.open();
        await own.kill();
        await until(() => !kit.store.isUp());
        return { ...kit, end: () => own.stop() };
      },
    ],
    [
      'whose server is frozen, with commands under way',
      async () => {
        const own = await RedisServer.start();
        const kit = await makeStore(own.url);
        await kit.store.open();
        own.pause();
        void kit.store.read(freshKey()).catch(() => undefined);
        return { ...kit, end: () => own.stop() };
      },
    ],
  ];

  it.each(cases)('a store %s is a matter of a second', async (_, make) => {
    const { store, end } = await make();
    expect(await timed(() => store.close())).toBeLessThan(1500);
    expect(await timed(() => store.close())).toBeLessThan(50);
    expect(store.isUp()).toBe(false);
    await end();
  });

  it('ends an opening that is under way', async () => {
    const proxy = await TcpProxy.start({ port: server.port });
    proxy.blackHole();
    const { store, states } = await makeStore(proxy.url);
    const opening = store.open();
    await store.close();
    expect(await timed(() => opening)).toBeLessThan(500);
    expect(states).toEqual([]);
    await closeProxy(proxy);
  });
});
