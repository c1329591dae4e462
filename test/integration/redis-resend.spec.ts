import type { Signal } from '../../lib/core/store.js';
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
      () => kit.store.commit(key, { token: mine.token, bytes, hardMs: LONG, rejectedId: '' }),
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
      () => kit.store.commit(key, { token: mine.token, bytes, hardMs: LONG, rejectedId: '' }),
      async () => {
        if (!(await exists(`shop:d:{${key.id}}`))) return false;
        await other.store.invalidate(key, 0);
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

  it('invalidate with a hold-off: holds off for as long as one would', async () => {
    const key = freshKey();
    await sentTwice(
      () => kit.store.invalidate(key, LONG),
      () => exists(`shop:l:{${key.id}}`),
    );
    const reply = await kit.store.acquire(key, request());
    expect(reply).toMatchObject({ code: 'heldOff' });
    expect(reply.code === 'heldOff' && reply.ms).toBeLessThanOrEqual(LONG);
  });

  it('expire: the entry is stale, and keeps its life', async () => {
    const subject = subjectOf(kit.store);
    await subject.publish();
    const softAt = async () => Number(await server.client().getrange(`shop:d:{${subject.key.id}}`, 4, 16));
    const before = await softAt();
    await sentTwice(
      () => kit.store.expire(subject.key),
      async () => (await softAt()) < before,
    );
    expect(await subject.acquire({ mode: 'probe' })).toMatchObject({ code: 'free' });
    expect((await subject.store.peek(subject.key)).ttlMs).toBeGreaterThan(LONG / 2);
  });

  /** What the key holds once the command ran for the first time, and what it answered the second. */
  async function changed<T>(key: string, send: () => Promise<T>): Promise<[after: string | null, reply: T]> {
    const admin = server.client();
    const before = await admin.get(key);
    let after: string | null = null;
    const reply = await sentTwice(send, async () => (after = await admin.get(key)) !== before);
    return [after, reply];
  }

  it('holdTags: answers with the tag that the first one made', async () => {
    const key = 'shop:t:{held}';
    const [after, [state]] = await changed(key, () => kit.store.holdTags(['held'], LONG));
    expect(await kit.store.tags(['held'])).toEqual([state]);
    expect(await server.client().get(key)).toBe(after);
  });

  it('invalidateTag: is known by its random part, changes nothing, and is announced again', async () => {
    const key = 'shop:t:{twice}';
    const direct = await makeStore(server.url);
    await direct.store.open();
    await direct.store.holdTags(['twice'], LONG);
    const signals: Signal[] = [];
    direct.store.watch((signal) => void signals.push(signal));
    const [after, state] = await changed(key, () => kit.store.invalidateTag('twice', LONG));
    expect(await server.client().get(key)).toBe(after);
    expect(await kit.store.tags(['twice'])).toEqual([state]);
    await direct.store.clear('the end');
    await until(() => signals.some(({ kind }) => kind === 'epoch'));
    // The reply that was lost may have said that nobody was told.
    expect(signals).toEqual([
      { kind: 'tag', id: 'twice', state },
      { kind: 'tag', id: 'twice', state },
      expect.objectContaining({ kind: 'epoch' }),
    ]);
    await direct.store.close();
  });

  it('invalidateTag: with another one in between it invalidates once more, and brings nothing back', async () => {
    const direct = await makeStore(server.url);
    await direct.store.open();
    const [before] = await direct.store.holdTags(['between'], LONG);
    const seen = [before?.hard];
    const last = await sentTwice(
      () => kit.store.invalidateTag('between', 0),
      async () => {
        const [state] = await direct.store.tags(['between']);
        if (state?.hard === before?.hard) return false;
        seen.push(state?.hard, (await direct.store.invalidateTag('between', 0)).hard);
        return true;
      },
    );
    expect(seen).not.toContain(last.hard);
    expect(new Set(seen).size).toBe(3);
    await direct.store.close();
  });

  it('expireTag: changes nothing the second time', async () => {
    const key = 'shop:t:{soft}';
    await kit.store.holdTags(['soft'], LONG);
    const [after] = await changed(key, () => kit.store.expireTag('soft'));
    expect(await server.client().get(key)).toBe(after);
  });

  it('clear: raises the epoch once', async () => {
    const [after, epoch] = await changed('shop:epochs', () => kit.store.clear('twice'));
    expect(await server.client().get('shop:epochs')).toBe(after);
    expect((await kit.store.epochs()).get('twice')).toBe(epoch);
  });

  it('raiseEpochs and announce: end as one of each would', async () => {
    const [after] = await changed('shop:epochs', () => kit.store.raiseEpochs(new Map([['raised', 7]])));
    expect(await server.client().get('shop:epochs')).toBe(after);
    await changed('shop:v:{n}', () => kit.store.announce('n', '.1', LONG));
    expect(await kit.store.variants('n')).toEqual(['.1']);
  });
});
