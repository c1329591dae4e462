import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { freshKey, freshToken, LONG } from '../contract/subject.js';
import { RedisServer } from '../support/redis-server.js';
import { entryBytes, makeStore, request, subjectOf, type Kit } from './redis-store-kit.js';

let server: RedisServer;
let admin: Redis;
let kit: Kit;

beforeAll(async () => {
  server = await RedisServer.start({ args: ['--slowlog-log-slower-than', '0', '--slowlog-max-len', '1000'] });
  admin = server.client();
});
afterAll(() => server.stop());

beforeEach(async () => {
  kit = await makeStore(server.url);
  await kit.store.open();
});
afterEach(() => kit.store.close());

const dataOf = (id: string): string => `shop:d:{${id}}`;
const leaseOf = (id: string): string => `shop:l:{${id}}`;
const stagedKeys = (): Promise<string[]> => admin.keys('shop:s:*');

describe('a command that arrives twice', () => {
  it('acquire: the owner stays the owner and keeps its waiters', async () => {
    const { store } = kit;
    const key = freshKey();
    const mine = request();
    await store.acquire(key, mine);
    await store.acquire(key, request({ willWait: true }));
    expect(await store.acquire(key, mine)).toMatchObject({ code: 'owner' });
    expect(await store.renew(key, mine.token, LONG)).toEqual({ held: true, contended: true });
  });

  it('commit: the second finds its own entry and leaves nothing staged', async () => {
    const { store } = kit;
    const key = freshKey();
    const mine = request();
    await store.acquire(key, mine);
    const commit = {
      token: mine.token,
      bytes: entryBytes(mine.token, Buffer.from('1')),
      hardMs: LONG,
      rejectedId: '',
    };
    expect(await store.commit(key, commit)).toBe('stored');
    expect(await store.commit(key, commit)).toBe('already');
    expect(await stagedKeys()).toEqual([]);
  });

  it('put: the second changes nothing, not even a lease taken in between', async () => {
    const { store } = kit;
    const key = freshKey();
    const token = freshToken();
    const put = {
      token,
      bytes: entryBytes(token, Buffer.from('1')),
      hardMs: LONG,
      notAfter: store.now() + LONG,
    };
    expect(await store.put(key, put)).toBe('stored');
    const refresh = request({ rejectedId: token });
    expect(await store.acquire(key, refresh)).toMatchObject({ code: 'owner' });
    expect(await store.put(key, put)).toBe('stored');
    expect(await store.renew(key, refresh.token, LONG)).toMatchObject({ held: true });
    expect(await stagedKeys()).toEqual([]);
  });

  it('release: the second is told that the lease was its own while the record of it stands', async () => {
    const subject = subjectOf(kit.store);
    await subject.publishStale();
    const token = await subject.own();
    const release = { token, outcome: '', backoff: { baseMs: LONG, capMs: LONG, scale: 1 } };
    expect(await kit.store.release(subject.key, release)).toBe(true);
    expect(await kit.store.release(subject.key, release)).toBe(true);
  });
});

describe('a write that must not happen', () => {
  it('a late put removes what it staged and keeps entry and lease', async () => {
    const subject = subjectOf(kit.store);
    const before = await subject.publishStale();
    const running = await subject.own();
    const token = freshToken();
    const bytes = entryBytes(token, Buffer.from('late'));
    expect(
      await kit.store.put(subject.key, { token, bytes, hardMs: LONG, notAfter: kit.store.now() - 1000 }),
    ).toBe('late');
    expect((await subject.storedBytes())?.toString()).toContain(before);
    await subject.expectHeldBy(running);
    expect(await stagedKeys()).toEqual([]);
  });

  it('a load whose lease was evicted is fenced, and its value is dropped', async () => {
    const subject = subjectOf(kit.store);
    const token = await subject.own();
    await admin.del(leaseOf(subject.key.id));
    const bytes = entryBytes(token, Buffer.from('1'));
    expect(await kit.store.commit(subject.key, { token, bytes, hardMs: LONG, rejectedId: '' })).toBe(
      'fenced',
    );
    expect(await subject.storedBytes()).toBeNull();
    expect(await stagedKeys()).toEqual([]);
  });

  it('a wrong token neither publishes, nor touches, nor releases', async () => {
    const subject = subjectOf(kit.store);
    const id = await subject.publishStale();
    const owner = await subject.own();
    const token = freshToken();
    const bytes = entryBytes(token, Buffer.from('foreign'));
    expect(await kit.store.commit(subject.key, { token, bytes, hardMs: LONG, rejectedId: '' })).toBe(
      'fenced',
    );
    const head = bytes.subarray(0, 68);
    expect(await kit.store.touch(subject.key, { token, entryId: id, head, hardMs: LONG })).toBe('fenced');
    expect(await kit.store.release(subject.key, { token, outcome: 'x' })).toBe(false);
    await subject.expectHeldBy(owner);
    expect((await subject.storedBytes())?.toString()).not.toContain('foreign');
  });

  it('a commit whose staged value vanished releases the lease and wakes a waiter to take over', async () => {
    const subject = subjectOf(kit.store);
    const log = await subject.listen(kit.store);
    const token = await subject.own();
    await subject.waitFor(token);
    // As if the SET had been lost: the staged name is taken away between it and the script.
    const [code] = (await runCommitOnly(subject.key.id, token)) as number[]; // the script answers a list of numbers
    expect(code).toBe(3);
    await subject.expectNoLease();
    expect(await subject.onlyWake(log)).toEqual({ kind: 'ended', token, outcome: '' });
  });
});

/** The commit script without the SET before it. */
async function runCommitOnly(id: string, token: string): Promise<unknown> {
  const { COMMIT } = await import('../../lib/redis/scripts/index.js');
  const { endedMessage, publishedMessage } = await import('../../lib/redis/message.js');
  const keys = [dataOf(id), leaseOf(id), `shop:s:{${id}}${token}`];
  const args = [token, String(LONG), 'shop:wake', publishedMessage(id), endedMessage(id, token, ''), '', ''];
  return admin.eval(COMMIT.lua, COMMIT.numberOfKeys, ...keys, ...args);
}

describe('what the server does not know', () => {
  it('scripts that were flushed are sent again', async () => {
    const { store } = kit;
    const subject = subjectOf(store);
    await subject.publish();
    await admin.script('FLUSH');
    const token = freshToken();
    const bytes = entryBytes(token, Buffer.from('2'));
    const put = { token, bytes, hardMs: LONG, notAfter: store.now() + LONG };
    expect(
      await Promise.all([store.put(subject.key, put), store.acquire(freshKey(), request())]),
    ).toMatchObject(['stored', { code: 'owner' }]);
    await store.invalidate(subject.key, 0);
    expect(await store.read(subject.key)).toBeNull();
  });

  it.each(['', '!', 'L', 'E', 'x'.repeat(80), 'L' + 'x'.repeat(80), 'E' + 'x'.repeat(80)])(
    'a lease value it cannot read, %j, counts as free',
    async (value) => {
      const subject = subjectOf(kit.store);
      await admin.set(leaseOf(subject.key.id), value, 'PX', LONG);
      expect(await subject.acquire({ mode: 'probe', hasStale: true })).toMatchObject({ code: 'free' });
      await subject.expectNoLease();
      await subject.own();
    },
  );

  it.each(['', '2', '1'.repeat(200), `2v-j${'x'.repeat(100)}`])(
    'an entry it cannot judge, %j, is no hit',
    async (value) => {
      const subject = subjectOf(kit.store);
      await admin.set(dataOf(subject.key.id), value);
      await subject.own();
    },
  );

  it('an outcome older than two seconds binds nobody, though the rest it came with goes on', async () => {
    const subject = subjectOf(kit.store);
    const [old, recent] = [kit.store.now() - 2500, kit.store.now()];
    const token = freshToken();
    const leave = (endedAt: number) =>
      admin.set(leaseOf(subject.key.id), `E${token}-001${endedAt}${endedAt + LONG}it failed`, 'PX', LONG);
    await leave(recent);
    expect(await subject.acquire({ waitedOn: token, mode: 'probe' })).toMatchObject({ code: 'outcome' });
    await leave(old);
    expect(await subject.acquire({ waitedOn: token, mode: 'probe' })).toMatchObject({ code: 'free' });
  });

  it('a lease lasts no longer because somebody waits for it', async () => {
    const subject = subjectOf(kit.store);
    const token = await subject.own({ leaseMs: 5000 });
    await subject.waitFor(token);
    const left = await admin.pttl(leaseOf(subject.key.id));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(5000);
  });

  it('a lease that lost its life gets one, and does not hold for ever', async () => {
    const subject = subjectOf(kit.store);
    await subject.own();
    await admin.persist(leaseOf(subject.key.id));
    expect(await subject.acquire({ leaseMs: 1000 })).toMatchObject({ code: 'wait', ms: 1000 });
    expect(await admin.pttl(leaseOf(subject.key.id))).toBeGreaterThan(0);
  });
});

describe('what it costs', () => {
  it('an uncontended load publishes nothing', async () => {
    const subject = subjectOf(kit.store);
    const counts = await server.countCommands(async () => {
      const id = await subject.publish();
      const token = await subject.own({ rejectedId: id, hasStale: true });
      await kit.store.release(subject.key, { token, outcome: 'it failed' });
    });
    expect(counts['publish']).toBeUndefined();
    expect(counts['rename']).toBe(1);
  });

  it('a contended load publishes one message', async () => {
    const subject = subjectOf(kit.store);
    const counts = await server.countCommands(async () => {
      const token = await subject.own();
      await subject.waitFor(token);
      await subject.waitFor(token);
      await kit.store.commit(subject.key, {
        token,
        bytes: entryBytes(token, Buffer.from('1')),
        hardMs: LONG,
        rejectedId: '',
      });
    });
    expect(counts['publish']).toBe(1);
  });

  it('a large value passes through no script', async () => {
    const key = freshKey();
    const mine = request();
    const bytes = entryBytes(mine.token, randomBytes(1 << 20));
    await kit.store.acquire(key, mine);
    await admin.call('SLOWLOG', 'RESET');
    await kit.store.commit(key, { token: mine.token, bytes, hardMs: LONG, rejectedId: '' });
    await kit.store.peek(key);
    // Entries of the slow log: [id, at, µs, [command, ...args], ...]; long arguments are cut and say by how much.
    const log = (await admin.call('SLOWLOG', 'GET', '1000')) as [number, number, number, string[]][];
    const scripts = log.filter(([, , , args]) => /^eval/i.test(args[0] ?? ''));
    expect(scripts.length).toBeGreaterThanOrEqual(2);
    for (const [, , , args] of scripts) {
      const foreign = args.slice(2).filter((arg) => /\((\d{5,}) more bytes\)/.test(arg));
      expect(foreign).toEqual([]);
    }
    const sets = log.filter(([, , , args]) => /^set$/i.test(args[0] ?? ''));
    expect(sets.some(([, , , args]) => args.some((arg) => /\((\d{5,}) more bytes\)/.test(arg)))).toBe(true);
    expect((await kit.store.read(key))?.equals(bytes)).toBe(true);
  });
});

describe('bytes', () => {
  it('come back as they were, whatever they are', async () => {
    const { store } = kit;
    const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const token = freshToken();
    const bytes = entryBytes(token, everyByte);
    const [committed, written, put] = [freshKey(), freshKey(), freshKey()];
    await store.acquire(committed, request({ token }));
    await store.commit(committed, { token, bytes, hardMs: LONG, rejectedId: '' });
    await store.write(written, bytes, LONG);
    await store.put(put, { token, bytes, hardMs: LONG, notAfter: store.now() + LONG });
    for (const key of [committed, written, put]) {
      expect((await store.read(key))?.equals(bytes)).toBe(true);
      expect((await store.peek(key)).bytes?.equals(bytes)).toBe(true);
    }
  });

  it('survive a touch behind the head', async () => {
    const subject = subjectOf(kit.store);
    const first = await subject.own();
    const payload = randomBytes(1000);
    await kit.store.commit(subject.key, {
      token: first,
      bytes: entryBytes(first, payload),
      hardMs: LONG,
      rejectedId: '',
    });
    const second = await subject.own({ rejectedId: first });
    const next = entryBytes(second, payload);
    const head = next.subarray(0, next.length - payload.length);
    expect(await kit.store.touch(subject.key, { token: second, entryId: first, head, hardMs: LONG })).toBe(
      'stored',
    );
    expect((await kit.store.read(subject.key))?.equals(next)).toBe(true);
  });

  it('an outcome of any text reaches those who were told to wait', async () => {
    const subject = subjectOf(kit.store);
    const log = await subject.listen(kit.store);
    const token = await subject.own();
    await subject.waitFor(token);
    const outcome = '{"name":"Größe","path":"a:b c\\n{x}"}\n\u0000 end';
    await kit.store.release(subject.key, { token, outcome });
    expect(await subject.onlyWake(log)).toEqual({ kind: 'ended', token, outcome });
    expect(await subject.acquire({ waitedOn: token })).toMatchObject({ code: 'outcome', outcome });
  });
});

describe('the store time', () => {
  it('is the server time, however wrong the first guess was', async () => {
    const { store } = await makeStore(server.url, { epochGuess: 0 });
    try {
      expect(store.now()).toBeLessThan(10_000_000);
      await store.open();
      const [seconds] = (await admin.time()).map(Number);
      expect(Math.abs(store.now() - Number(seconds) * 1000)).toBeLessThan(2000);
      expect(Number.isInteger(store.now())).toBe(true);
    } finally {
      await store.close();
    }
  });

  it('comes with each reply', async () => {
    const before = Date.now();
    const reply = await kit.store.acquire(freshKey(), request());
    expect(reply.now).toBeGreaterThanOrEqual(before - 1000);
    expect(Number.isInteger(reply.now)).toBe(true);
  });
});
