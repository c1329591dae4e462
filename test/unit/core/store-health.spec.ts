import type { EntryKey } from '../../../lib/core/keys/index.js';
import type { AcquireReply, AcquireRequest } from '../../../lib/core/store.js';
import { errorOf } from '../../contract/cache/subject.js';
import type { Process } from '../../contract/cache/lab.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { KeptOpen, MemoryLab } from './memory-lab.js';
import { watchUnhandled } from './watch-unhandled.js';

const TIMEOUT = 100;
const A_ROW = 5;
/** Until the questions are over that the first calls asked before the silence was noticed. */
const SENT_BEFORE = TIMEOUT;

/** Answers nothing while `frozen`, and refuses to acquire while it is `full`. */
class IllServer extends KeptOpen {
  readonly asked: string[] = [];
  frozen = false;
  full = false;
  reconnects = 0;
  private readonly held: (() => void)[] = [];

  /** Goes on, with what came meanwhile. */
  thaw(): void {
    this.frozen = false;
    for (const go of this.held.splice(0)) go();
  }

  count(what: string): number {
    return this.asked.filter((each) => each === what).length;
  }

  override async read(key: EntryKey): Promise<Buffer | null> {
    await this.turn('read');
    return super.read(key);
  }

  override async acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
    await this.turn('acquire');
    if (this.full) throw new Error("OOM command not allowed when used memory > 'maxmemory'.");
    return super.acquire(key, request);
  }

  override async epochs(): ReturnType<ForwardingStore['epochs']> {
    await this.turn('epochs');
    return super.epochs();
  }

  override async invalidate(key: EntryKey, holdOffMs: number): Promise<void> {
    await this.turn('invalidate');
    return super.invalidate(key, holdOffMs);
  }

  override async probe(server: string): Promise<void> {
    await this.turn('probe');
    return super.probe(server);
  }

  override reconnect(): void {
    this.reconnects += 1;
  }

  private async turn(what: string): Promise<void> {
    this.asked.push(what);
    if (this.frozen) await new Promise<void>((go) => this.held.push(go));
  }
}

describe('a store that stays silent', () => {
  let lab: MemoryLab;
  let server: IllServer;
  let a: Process;
  let count = 0;
  watchUnhandled();

  beforeEach(async () => {
    lab = new MemoryLab();
    a = await lab.process({ redisTimeout: TIMEOUT }, (store) => (server = new IllServer(store)));
  });

  /** So many calls of as many keys at once. */
  const calls = (many: number): Promise<unknown[]> =>
    Promise.all(Array.from({ length: many }, () => a.get(`k${++count}`, () => 'v')));

  /** While the clock stands. */
  async function atOnce<T>(result: Promise<T>): Promise<T> {
    await lab.fake.advance(0);
    return result;
  }

  async function fallSilent(): Promise<void> {
    server.frozen = true;
    const all = calls(A_ROW);
    await lab.fake.advance(TIMEOUT);
    expect(await all).toEqual(Array(A_ROW).fill('v'));
    await lab.fake.advance(SENT_BEFORE);
  }

  it('is waited for by the first calls, and then by nobody', async () => {
    await fallSilent();
    const before = server.asked.length;
    expect(await atOnce(calls(20))).toEqual(Array(20).fill('v'));
    expect(server.asked.slice(before)).toEqual([]);
  });

  it('is asked again by the next call once a probe in the background was answered', async () => {
    await fallSilent();
    server.thaw();
    await lab.fake.advance(200);
    expect(server.count('probe')).toBe(1);
    const before = server.count('read');
    await calls(1);
    expect(server.count('read')).toBe(before + 1);
  });

  it('is probed ever more rarely, once a second in the end; every third in vain makes the connection anew', async () => {
    await fallSilent();
    const probesAfter = async (ms: number): Promise<number> => {
      await lab.fake.advance(ms);
      return server.count('probe');
    };
    expect(await probesAfter(200 - SENT_BEFORE)).toBe(1);
    expect(await probesAfter(TIMEOUT + 400)).toBe(2);
    expect(server.reconnects).toBe(0);
    expect(await probesAfter(TIMEOUT + 800)).toBe(3);
    expect(await probesAfter(TIMEOUT)).toBe(3);
    expect(server.reconnects).toBe(1);
    expect(await probesAfter(9 * (TIMEOUT + 1_000))).toBe(12);
    expect(server.reconnects).toBe(4);
  });

  it('says so once, and once that it answers again; listeners hear of it', async () => {
    await fallSilent();
    await atOnce(calls(20));
    await lab.fake.advance(5_000);
    server.thaw();
    await lab.fake.advance(1_000);
    expect(lab.warnings).toEqual([
      expect.stringMatching(/^The store does not answer\. Calls go on without it/),
      expect.stringMatching(/^The store answers again, after \d+ ms\.$/),
    ]);
    const told = a.events.filter(({ type }) => type === 'redis.down' || type === 'redis.up');
    expect(told).toMatchObject([
      { type: 'redis.down', reason: 'The store does not answer' },
      { type: 'redis.up' },
    ]);
  });

  it('a few times in a row and then answers is asked on', async () => {
    for (let round = 0; round < 3; round++) {
      server.frozen = true;
      const few = calls(2);
      await lab.fake.advance(TIMEOUT);
      await few;
      server.thaw();
      const before = server.count('read');
      await calls(1);
      expect(server.count('read')).toBe(before + 1);
    }
    expect(lab.warnings).toEqual([]);
  });

  it('is still asked to invalidate: only its answer counts; that answer ends the silence', async () => {
    await fallSilent();
    const failed = errorOf(a.invalidate('k'));
    await lab.fake.advance(1_000);
    expect(await failed).toMatchObject({ code: 'INVALIDATION_FAILED' });
    server.thaw();
    await a.invalidate('k');
    const before = server.count('read');
    await calls(1);
    expect(server.count('read')).toBe(before + 1);
  });

  it('is sent nothing more while a thousand answers are owed, not even changes', async () => {
    server.frozen = true;
    const all = Promise.allSettled(Array.from({ length: 1_000 }, (_, i) => a.invalidate(`k${i}`)));
    await lab.fake.advance(1_000);
    await all;
    const before = server.asked.length;
    expect(await atOnce(errorOf(a.invalidate('one more')))).toMatchObject({
      message: expect.stringContaining('have had no answer yet') as string,
    });
    expect(server.count('invalidate')).toBe(
      server.asked.slice(0, before).filter((w) => w === 'invalidate').length,
    );
  });

  it('for a big value alone is asked on: the value came late, but it came', async () => {
    await a.set('big', 'x'.repeat(100_000));
    server.frozen = true;
    const late = a.get('big', () => 'v');
    const others = calls(A_ROW);
    await lab.fake.advance(TIMEOUT);
    await Promise.all([late, others]);
    server.thaw();
    await lab.fake.advance(0);
    expect(server.count('probe')).toBe(0);
    const before = server.count('read');
    await calls(1);
    expect(server.count('read')).toBe(before + 1);
  });

  it('and whose client gives up by itself is silent all the same', async () => {
    const read = jest.spyOn(server, 'read').mockRejectedValue(new Error('Command timed out'));
    await calls(A_ROW);
    await calls(20);
    expect(read).toHaveBeenCalledTimes(A_ROW);
    read.mockRestore();
  });

  it('has answered a probe also when it refuses it', async () => {
    await fallSilent();
    jest
      .spyOn(server, 'probe')
      .mockRejectedValue(new Error('MISCONF Redis is configured to save RDB snapshots'));
    server.thaw();
    await lab.fake.advance(500);
    const before = server.count('read');
    await calls(1);
    expect(server.count('read')).toBe(before + 1);
  });

  it('is sent commands again over a new connection, whatever the old one owed', async () => {
    server.frozen = true;
    const all = Promise.allSettled(Array.from({ length: 1_000 }, (_, i) => a.invalidate(`k${i}`)));
    await lab.fake.advance(1_000);
    await all;
    // What was sent over the old connection is never heard of.
    server.frozen = false;
    a.cache.report('up', 'connected');
    await atOnce(a.invalidate('k'));
    expect(await atOnce(calls(1))).toEqual(['v']);
  });

  it('is not probed any more once the cache is closed, whatever was under way', async () => {
    server.frozen = true;
    const late = Promise.allSettled(Array.from({ length: 2 * A_ROW }, (_, i) => a.invalidate(`k${i}`)));
    const closed = a.close();
    await lab.fake.advance(60_000);
    await Promise.all([late, closed]);
    const before = server.count('probe');
    await lab.fake.advance(60_000);
    expect(server.count('probe')).toBe(before);
  });

  it("fails a call with onRedisDown: 'error' at once, also when all slots are taken", async () => {
    a = await lab.process(
      { redisTimeout: TIMEOUT, loads: { concurrency: 1 } },
      (store) => (server = new IllServer(store)),
    );
    await fallSilent();
    const hung = a.get('hung', () => new Promise(() => undefined)).catch(() => undefined);
    await lab.fake.settle();
    const strict = errorOf(a.get('strict', () => 'v', { onRedisDown: 'error' }));
    expect(await atOnce(strict)).toMatchObject({ code: 'CACHE_UNAVAILABLE' });
    await lab.fake.advance(60_000);
    await hung;
  });

  it('makes fresh loads of one key run one after another in this process', async () => {
    await fallSilent();
    let running = 0;
    let peak = 0;
    let starts = 0;
    const load = async (): Promise<number> => {
      starts += 1;
      peak = Math.max(peak, (running += 1));
      await new Promise<void>((resolve) => void lab.fake.runtime.timers.after(50, resolve));
      running -= 1;
      return starts;
    };
    const all: Promise<unknown>[] = [];
    for (let i = 0; i < 20; i++) {
      all.push(a.get('k', load, {}, { fresh: true }));
      await lab.fake.advance(10);
    }
    await lab.fake.advance(1_000);
    await Promise.all(all);
    expect(peak).toBe(1);
    expect(starts).toBeLessThanOrEqual(6);
  });

  it('lets fresh loads of two keys that ask for each other end', async () => {
    await fallSilent();
    const fresh = { fresh: true };
    const ask = (mine: string, other: string): Promise<unknown> =>
      a.get(
        mine,
        () => a.get(other, () => a.get(mine, () => 'inner', {}, fresh).catch(() => 'refused'), {}, fresh),
        {},
        fresh,
      );
    const both = Promise.all([ask('x', 'y'), ask('y', 'x')]);
    let isOver = false;
    void both.then(() => (isOver = true));
    await lab.fake.advance(5_000);
    expect(isOver).toBe(true);
  });

  it('leaves no timer behind when the cache is closed', async () => {
    await fallSilent();
    const closed = a.close();
    await lab.fake.advance(10_000);
    await closed;
    await lab.store.close();
    expect(lab.fake.pending()).toEqual({ foreground: 0, background: 0 });
  });

  it('while the connection is made anew is taken for well', async () => {
    await fallSilent();
    server.thaw();
    a.cache.report('up', 'connected');
    const before = server.count('read');
    await calls(1);
    expect(server.count('read')).toBe(before + 1);
  });
});

describe('a store that refuses', () => {
  let lab: MemoryLab;
  let server: IllServer;
  let a: Process;
  watchUnhandled();

  beforeEach(async () => {
    lab = new MemoryLab();
    a = await lab.process({}, (store) => (server = new IllServer(store)));
  });

  /** Calls one after another. */
  async function calls(name: string, many: number): Promise<void> {
    for (let i = 0; i < many; i++) {
      const call = a.get(`${name}${i}`, () => 'v');
      await lab.fake.advance(0);
      await call;
    }
  }

  it('is spared after five refusals in a row, tried once a second, and used again when it accepts', async () => {
    server.full = true;
    await calls('k', A_ROW);
    expect(server.count('acquire')).toBe(A_ROW);
    await calls('l', 20);
    expect(server.count('acquire')).toBe(A_ROW);
    await lab.fake.advance(1_000);
    await calls('m', 20);
    expect(server.count('acquire')).toBe(A_ROW + 1);
    server.full = false;
    await lab.fake.advance(1_000);
    await calls('n', 2);
    expect(await a.entry('n1', () => 'never')).toMatchObject({ outcome: 'fresh' });
  });

  it('still reads', async () => {
    await a.get('k', () => 'v', { ttl: 60_000 });
    server.full = true;
    await calls('k', 3 * A_ROW);
    expect(await a.entry('k', () => 'never')).toMatchObject({ outcome: 'fresh' });
  });

  it('grants no lease and has a stale value: an origin that fails is tried once in failureBackoff', async () => {
    await a.get('k', () => 'old', { ttl: 1_000, staleIfError: 60_000 });
    await lab.fake.advance(2_000);
    server.full = true;
    let loads = 0;
    for (let i = 0; i < 50; i++) {
      const call = a.get('k', () => Promise.reject(new Error(`down ${(loads += 1)}`)), {
        ttl: 1_000,
        staleIfError: 60_000,
        failureBackoff: 1_000,
      });
      await lab.fake.advance(10);
      expect(await call).toBe('old');
    }
    expect(loads).toBe(1);
  });

  it('is one of several: what it refuses says nothing of the others', async () => {
    class Two extends IllServer {
      override serverOf(): string {
        return this.full ? 'one' : 'two';
      }
    }
    a = await lab.process({}, (store) => (server = new Two(store)));
    server.full = true;
    await calls('k', 2 * A_ROW);
    server.full = false;
    expect(server.count('acquire')).toBe(A_ROW);
    await calls('l', 1);
    expect(server.count('acquire')).toBe(A_ROW + 1);
  });

  it('is said once, and so is its end', async () => {
    server.full = true;
    for (let i = 0; i < 50; i++) {
      await calls(`k${i}`, 1);
      await lab.fake.advance(500);
    }
    server.full = false;
    await lab.fake.advance(1_000);
    await calls('x', 1);
    expect(lab.warnings.filter((line) => line.includes('acquire'))).toEqual([
      expect.stringMatching(/^The store refuses to acquire: OOM/),
      'The store accepts to acquire again.',
    ]);
  });
});
