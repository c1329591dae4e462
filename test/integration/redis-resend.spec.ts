import { freshKey, freshToken, LONG } from '../contract/subject.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { closeProxy, entryBytes, makeStore, request, subjectOf, type Kit } from './redis-store-kit.js';

let server: RedisServer;
let proxy: TcpProxy;
let kit: Kit;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  proxy = await TcpProxy.start({ port: server.port });
  kit = await makeStore(proxy.url);
  await kit.store.open();
});
afterEach(async () => {
  await kit.store.close();
  await closeProxy(proxy);
});

/**
 * Sends a command whose reply is lost with the connection after the server ran it: ioredis connects again and sends it a
 * second time.
 */
async function sentTwice<T>(send: () => Promise<T>, ran: () => Promise<boolean>): Promise<T> {
  proxy.blackHole('replies');
  const reply = send();
  await until(ran, { what: 'the server to have run it' });
  proxy.cut();
  proxy.resume();
  return reply;
}

const exists = async (key: string): Promise<boolean> => (await server.client().exists(key)) === 1;

describe('a command that ioredis sends again after a lost connection', () => {
  it('acquire: is still the owner', async () => {
    const key = freshKey();
    const mine = request();
    const reply = await sentTwice(
      () => kit.store.acquire(key, mine),
      () => exists(`shop:l:{${key.id}}`),
    );
    expect(reply).toMatchObject({ code: 'owner' });
    expect((await server.commandCounts())['pexpire']).toBe(1);
  });

  it('commit: learns that it has stored, and leaves nothing staged', async () => {
    const key = freshKey();
    const mine = request();
    await kit.store.acquire(key, mine);
    const bytes = entryBytes(mine.token, Buffer.from('1'));
    const reply = await sentTwice(
      () => kit.store.commit(key, { token: mine.token, bytes, hardMs: LONG }),
      () => exists(`shop:d:{${key.id}}`),
    );
    expect(reply).toBe('already');
    expect(await server.client().keys('shop:s:*')).toEqual([]);
  });

  it('commit: does not undo what happened in between', async () => {
    const key = freshKey();
    const mine = request();
    await kit.store.acquire(key, mine);
    const bytes = entryBytes(mine.token, Buffer.from('1'));
    const other = await makeStore(server.url);
    await other.store.open();
    const reply = await sentTwice(
      () => kit.store.commit(key, { token: mine.token, bytes, hardMs: LONG }),
      async () => {
        if (!(await exists(`shop:d:{${key.id}}`))) return false;
        await other.store.invalidate(key);
        return true;
      },
    );
    expect(reply).toBe('fenced');
    expect(await other.store.read(key)).toBeNull();
    await other.store.close();
  });

  it('put: leaves alone the load that began after it', async () => {
    const subject = subjectOf(kit.store);
    const other = await makeStore(server.url);
    await other.store.open();
    const token = freshToken();
    const bytes = entryBytes(token, Buffer.from('1'));
    const notAfter = kit.store.now() + LONG;
    const refresh = request({ rejectedId: token });
    const reply = await sentTwice(
      () => kit.store.put(subject.key, { token, bytes, hardMs: LONG, notAfter }),
      async () => {
        if (!(await exists(`shop:d:{${subject.key.id}}`))) return false;
        await other.store.acquire(subject.key, refresh);
        return true;
      },
    );
    expect(reply).toBe('stored');
    expect(await other.store.renew(subject.key, refresh.token, LONG)).toMatchObject({ held: true });
    await other.store.close();
  });
});
