import type { EntryKey } from '../../../lib/core/keys/index.js';
import type { AcquireReply, AcquireRequest, CommitRequest, Store } from '../../../lib/core/store.js';
import { errorOf } from '../../contract/cache/subject.js';
import { deferred } from '../../support/deferred.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { Origin } from '../../support/origin.js';
import { until } from '../../support/until.js';
import { MemoryLab } from './memory-lab.js';

/** A store whose operations can be made to hang or fail, each after having taken effect or before. */
class IllStore extends ForwardingStore {
  readonly calls: string[] = [];
  readFails = false;
  holdRead: Promise<void> | undefined;
  holdAcquire: Promise<void> | undefined;
  acquireFails = false;
  holdCommit: Promise<void> | undefined;
  commitFailsAfterwards = false;

  override async read(key: EntryKey): Promise<Buffer | null> {
    this.calls.push('read');
    if (this.readFails) throw new Error('connection lost');
    const bytes = await super.read(key);
    await this.holdRead;
    return bytes;
  }

  override async acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
    this.calls.push('acquire');
    if (this.acquireFails) throw new Error('connection lost');
    const reply = await super.acquire(key, request);
    await this.holdAcquire;
    return reply;
  }

  override async commit(key: EntryKey, request: CommitRequest): ReturnType<Store['commit']> {
    this.calls.push('commit');
    await this.holdCommit;
    const reply = await super.commit(key, request);
    if (this.commitFailsAfterwards) throw new Error('connection lost');
    return reply;
  }
}

describe('a store that is ill', () => {
  let lab: MemoryLab;
  let ill: IllStore;
  const openIll = (options = {}): ReturnType<MemoryLab['process']> =>
    lab.process({ redisTimeout: 100, ...options }, (store) => (ill = new IllStore(store)));

  beforeEach(() => {
    lab = new MemoryLab();
  });

  it('costs a call its answer from the cache, not its value; nothing is written without a lease', async () => {
    const a = await openIll();
    ill.readFails = true;
    ill.acquireFails = true;
    const origin = new Origin();
    const calls = [a.entry('k', origin.load), a.entry('k', origin.load)];
    await origin.give('v');

    expect((await Promise.all(calls)).map(({ value }) => value)).toEqual(['v', 'v']);
    expect(origin.starts).toBe(1);
    expect(ill.calls).not.toContain('commit');
    expect(await (await lab.process()).inspect('k')).toBeNull();
    expect(a.events.find(({ type }) => type === 'load.start')).toMatchObject({
      reason: 'redis_down',
      leased: false,
    });
  });

  it("keeps the origin from being called with onRedisDown: 'error'", async () => {
    const a = await openIll();
    ill.readFails = true;
    ill.acquireFails = true;

    expect(await errorOf(a.get('k', () => 'never', { onRedisDown: 'error' }))).toMatchObject({
      code: 'CACHE_UNAVAILABLE',
      statusCode: 503,
    });
    expect(a.cache.stats().loads.started).toBe(0);
  });

  it('that answers no read is waited for once, for redisTimeout in all', async () => {
    const a = await openIll();
    const never = deferred();
    ill.holdRead = never.promise;
    const origin = new Origin();
    const call = a.get('k', origin.load);
    await lab.fake.advance(99);
    expect(origin.starts).toBe(0);
    await lab.fake.advance(1);
    await origin.give('v');

    expect(await call).toBe('v');
    expect(ill.calls).toEqual(['read']);
  });

  it('shares one budget between the read and the acquire', async () => {
    const a = await openIll();
    const [read, acquire] = [deferred(), deferred()];
    ill.holdRead = read.promise;
    ill.holdAcquire = acquire.promise;
    const origin = new Origin();
    const call = a.get('k', origin.load);
    await lab.fake.advance(40);
    read.resolve();
    await until(() => ill.calls.includes('acquire'));
    await lab.fake.advance(59);
    expect(origin.starts).toBe(0);
    await lab.fake.advance(1);
    await origin.give('v');

    expect(await call).toBe('v');
  });

  it('is asked for the lease with half of its budget, when its read was answered over a stalled event loop', async () => {
    const a = await openIll();
    const read = deferred();
    ill.holdRead = read.promise;
    const call = a.entry('k', () => 'v');
    await until(() => ill.calls.includes('read'));
    lab.fake.stall(150);
    read.resolve();
    await lab.fake.advance(0);

    expect(await call).toMatchObject({ value: 'v', outcome: 'loaded' });
    expect(a.events.find(({ type }) => type === 'load.start')).toMatchObject({ leased: true });
  });

  it('gives back a lease that was granted too late, and never adopts it', async () => {
    const a = await openIll();
    const late = deferred();
    ill.holdAcquire = late.promise;
    const origin = new Origin();
    const call = a.get('k', origin.load);
    await lab.fake.advance(100);
    late.resolve();
    await origin.give('v');
    await call;

    expect(ill.calls).not.toContain('commit');
    await until(async () => (await a.inspect('k')) === null);
  });

  it('delivers the value to everybody when the fate of its commit is unknown', async () => {
    const a = await openIll();
    ill.commitFailsAfterwards = true;
    const origin = new Origin();
    const leader = a.get('k', origin.load);
    await origin.started(1);
    const joiner = a.get('k', origin.load);
    await origin.give('v');

    expect(await leader).toBe('v');
    expect(await joiner).toBe('v');
    expect(origin.starts).toBe(1);
  });

  it('does not keep the leader waiting for its commit; who came later waits for it', async () => {
    const a = await openIll();
    const commit = deferred();
    ill.holdCommit = commit.promise;
    const origin = new Origin();
    const leader = a.get('k', origin.load);
    await origin.started(1);
    let joined = false;
    const joiner = a.get('k', origin.load).then((value) => ((joined = true), value));
    await origin.give('v');

    expect(await leader).toBe('v');
    await lab.fake.settle();
    expect(joined).toBe(false);
    commit.resolve();
    expect(await joiner).toBe('v');
  });

  it('is sealed off before its commit is sent: a caller from then on reads for itself', async () => {
    const a = await openIll();
    const commit = deferred();
    ill.holdCommit = commit.promise;
    const origin = new Origin();
    const leader = a.get('k', origin.load);
    await origin.give('old');
    await leader;
    await until(() => ill.calls.includes('commit'));
    ill.calls.length = 0;
    const after = a.get('k', origin.load);
    await until(() => ill.calls.includes('read'));
    commit.resolve();

    expect(await after).toBe('old');
    expect(origin.starts).toBe(1);
  });

  it('shares a read only among the callers of one tick', async () => {
    const a = await openIll();
    await a.set('k', 'v1');
    const held = deferred();
    ill.holdRead = held.promise;
    const early = [a.get('k', () => 'x'), a.get('k', () => 'x')];
    await until(() => ill.calls.includes('read'));
    const other = await lab.process();
    await other.set('k', 'v2');
    ill.holdRead = undefined;
    const after = a.get('k', () => 'x');

    expect(await after).toBe('v2');
    held.resolve();
    expect(await Promise.all(early)).toEqual(['v1', 'v1']);
    expect(ill.calls.filter((call) => call === 'read')).toHaveLength(2);
  });

  it('finds a fill that came between the read and the acquire, and loads nothing', async () => {
    const a = await openIll();
    const b = await lab.process();
    const held = deferred();
    ill.holdRead = held.promise;
    const call = a.entry('k', () => 'never');
    await until(() => ill.calls.includes('read'));
    await b.get('k', () => 'filled');
    held.resolve();

    expect(await call).toMatchObject({ value: 'filled', outcome: 'waited' });
    expect(a.cache.stats().loads.started).toBe(0);
  });

  it('is no outage after a stalled event loop: the answer is there before the deadline is judged', async () => {
    const a = await openIll();
    await a.set('k', 'v');
    const held = deferred();
    ill.holdRead = held.promise;
    const call = a.entry('k', () => 'never');
    await until(() => ill.calls.includes('read'));
    lab.fake.stall(130);
    held.resolve();
    await lab.fake.advance(0);

    expect(await call).toMatchObject({ value: 'v', outcome: 'fresh' });
  });

  it('keeps nobody waiting whose signal aborts, and answers the others', async () => {
    const a = await openIll();
    const read = deferred();
    ill.holdRead = read.promise;
    const controller = new AbortController();
    const gone = errorOf(a.entry('k', () => 'v', {}, { signal: controller.signal }));
    const other = a.get('k', () => 'v');
    await until(() => ill.calls.includes('read'));
    controller.abort(new Error('client gone'));

    expect(await gone).toMatchObject({ message: 'client gone' });
    read.resolve();
    expect(await other).toBe('v');
  });

  it('that ends in mid-flight leaves no timer and no caller behind', async () => {
    const a = await openIll();
    ill.acquireFails = true;
    await a.get('k', () => 'v');
    await errorOf(a.get('k2', () => Promise.reject(new Error('x'))));
    await a.close();
    await lab.store.close();

    expect(lab.fake.pending()).toEqual({ foreground: 0, background: 0 });
    expect(a.cache.stats().active).toEqual({
      flights: 0,
      refreshes: 0,
      unsettled: 0,
      slots: 0,
      queued: 0,
      callers: 0,
    });
  });
});
