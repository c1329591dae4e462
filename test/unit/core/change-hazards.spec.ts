import type { EntryKey } from '../../../lib/core/keys/index.js';
import type { Store } from '../../../lib/core/store.js';
import { deferred } from '../../support/deferred.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { KeptOpen, MemoryLab } from './memory-lab.js';
import { stateOf } from './state-of.js';
import { watchUnhandled } from './watch-unhandled.js';

class Scripted extends ForwardingStore {
  onInvalidate: (key: EntryKey, run: () => Promise<void>) => Promise<void> = (_, run) => run();
  attempts: string[] = [];
  skew = 0;
  override now(): number {
    return this.inner.now() + this.skew;
  }
  override invalidate(key: EntryKey, holdOffMs: number): Promise<void> {
    this.attempts.push(key.id);
    return this.onInvalidate(key, () => this.inner.invalidate(key, holdOffMs));
  }
  override async close(): Promise<void> {
    // shared
  }
}

const failing = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'done',
    (error: unknown) => error,
  );

describe('hazards of explicit changes', () => {
  let lab: MemoryLab;
  let store!: Scripted;
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });
  /** So many at once; the clock moves by nothing. */
  const allFail = async (count: number, change: (index: number) => Promise<unknown>): Promise<void> => {
    const all = Promise.all(Array.from({ length: count }, (_, index) => failing(change(index))));
    await lab.fake.advance(0);
    await all;
  };
  const open = (options = {}) => lab.process(options, (inner: Store) => (store = new Scripted(inner)));

  it('an older change that is acknowledged later does not settle a younger one that failed', async () => {
    const a = await open();
    await a.get('k', () => 'old');
    const slow = deferred();
    let calls = 0;
    store.onInvalidate = async (_, run) => {
      calls += 1;
      if (calls > 1) throw new Error('READONLY');
      await run();
      await slow.promise;
    };
    const first = a.invalidate('k');
    await lab.fake.settle();
    // Another process loads after the first invalidation, before the second.
    const b = await lab.process({}, (inner) => new KeptOpen(inner));
    await b.get('k', () => 'between');
    await lab.fake.advance(200);
    expect(await failing(a.invalidate('k'))).toMatchObject({ code: 'INVALIDATION_FAILED' });
    slow.resolve();
    await first;
    expect(a.cache.stats().active.unsettled).toBe(1);
    expect(await a.get('k', () => 'new')).toBe('new');
  });

  it('changes that keep failing do not keep others from being tried again', async () => {
    const a = await open();
    store.onInvalidate = async () => {
      throw new Error('CLUSTERDOWN');
    };
    await allFail(120, (i) => a.invalidate(`dead${i}`));
    await allFail(1, () => a.invalidate('alive'));
    store.onInvalidate = async (key, run) => {
      if (key.id.includes('dead')) throw new Error('CLUSTERDOWN');
      await run();
    };
    store.attempts = [];
    await lab.fake.advance(120_000);
    expect(store.attempts.some((id) => id.includes('alive'))).toBe(true);
  });

  it('close does not take minutes with many changes pending and a slow store', async () => {
    const a = await open();
    store.onInvalidate = async () => {
      throw new Error('READONLY');
    };
    await allFail(2_000, (i) => a.invalidate(`k${i}`));
    store.onInvalidate = (_, run) =>
      new Promise((resolve, reject) => {
        lab.fake.runtime.timers.after(900, () => void run().then(resolve, reject));
      });
    const closed = a.close();
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    await lab.fake.advance(10_000);
    expect(isClosed).toBe(true);
  });

  it('distrust goes by the time at which the change was made, also when the clock was a guess then', async () => {
    const a = await open();
    const b = await lab.process({}, (inner) => new KeptOpen(inner));
    await b.get('k', () => 'old');
    await lab.fake.advance(1_000);
    // Not connected yet: the store's time is this host's, which is ten minutes slow.
    store.skew = -600_000;
    store.onInvalidate = async () => {
      throw new Error('READONLY');
    };
    expect(await failing(a.invalidate('k'))).toMatchObject({ code: 'INVALIDATION_FAILED' });
    // Connected (to a server that takes no writes): the time is known.
    store.skew = 0;
    expect(await a.get('k', () => 'new')).toBe('new');
  });

  const holdOffs: [string, (a: Awaited<ReturnType<typeof open>>) => Promise<unknown>][] = [
    ['another invalidation', (a) => a.invalidate('k')],
    ['a set', (a) => a.set('k', 'set')],
    ['clear', (a) => a.cache.changes.clear()],
  ];
  it.each(holdOffs)('deferred: a hold-off is not lost by %s after it', async (_, then) => {
    const a = await open();
    await a.cache.changes.defer(async () => {
      await a.invalidate('k', 60_000);
      await then(a);
    });
    await a.invalidate('k');
    let loads = 0;
    for (let i = 0; i < 3; i++) await a.get('k', () => (loads += 1));
    expect(loads).toBe(3);
  });

  it('retried: a hold-off is not lost by another failed invalidation without one', async () => {
    const a = await open();
    store.onInvalidate = async () => {
      throw new Error('READONLY');
    };
    await failing(a.invalidate('k', 60_000));
    await failing(a.invalidate('k'));
    store.onInvalidate = (_, run) => run();
    await lab.fake.advance(1_000);
    expect(a.cache.stats().active.unsettled).toBe(0);
    let loads = 0;
    for (let i = 0; i < 3; i++) await a.get('k', () => (loads += 1));
    expect(loads).toBe(3);
  });

  it('a set that nobody awaited is dropped with its run', async () => {
    const a = await open();
    await failing(
      a.cache.changes.defer(async () => {
        void a.set('k', 'uncommitted');
        throw new Error('rolled back');
      }),
    );
    await lab.fake.settle();
    expect(await a.peek('k')).toBeUndefined();
  });

  it('deferred changes keep their order, also without await', async () => {
    const a = await open();
    await a.cache.changes.defer(async () => {
      const one = a.set('k', 'v');
      const two = a.invalidate('k');
      await Promise.all([one, two]);
    });
    expect(await a.peek('k')).toBeUndefined();
  });

  it('a load is no part of the run of the caller that leads it: its own changes are made, for all who share it', async () => {
    const a = await open();
    await a.get('x', () => 'old x');
    const gate = deferred();
    const run = failing(
      a.cache.changes.defer(async () => {
        await a.get('k', async () => {
          await a.invalidate('x');
          return 'v';
        });
        await gate.promise;
        throw new Error('rolled back');
      }),
    );
    const joined = await a.get('k', () => 'never');
    gate.resolve();
    await run;
    expect(joined).toBe('v');
    expect(await a.get('x', () => 'new x')).toBe('new x');
  });

  it('a background refresh is no part of the run of the caller that triggers it', async () => {
    const a = await open();
    const policy = { ttl: 50, stale: 60_000 };
    await a.get('x', () => 'old x');
    await a.get('k', () => 'v1', policy);
    await lab.fake.advance(60);
    await failing(
      a.cache.changes.defer(async () => {
        await a.get(
          'k',
          async () => {
            await a.invalidate('x');
            return 'v2';
          },
          policy,
        );
        await lab.fake.settle();
        throw new Error('rolled back');
      }),
    );
    await lab.fake.settle();
    expect((await a.peek('k'))?.value).toBe('v2');
    expect(await a.get('x', () => 'new x')).toBe('new x');
  });

  it('timers: nothing is left after close with changes pending', async () => {
    const a = await open();
    store.onInvalidate = async () => {
      throw new Error('READONLY');
    };
    await failing(a.invalidate('k'));
    const closed = a.close();
    await lab.fake.advance(10_000);
    await closed;
    await lab.store.close();
    expect(lab.fake.pending()).toEqual({ foreground: 0, background: 0 });
  });

  it('announcements: many misses in one tick announce a version once', async () => {
    let announced = 0;
    const a = await lab.process(
      {},
      (inner) =>
        new (class extends ForwardingStore {
          override announce(...args: Parameters<Store['announce']>): Promise<void> {
            announced += 1;
            return super.announce(...args);
          }
        })(inner),
    );
    a.version = '7';
    await Promise.all(Array.from({ length: 200 }, (_, i) => a.get(`k${i}`, () => i)));
    await lab.fake.settle();
    expect(announced).toBeLessThanOrEqual(2);
  });

  it('a store that hangs: stateOf close', async () => {
    const a = await open();
    store.onInvalidate = () => new Promise(() => undefined);
    const failed = failing(a.invalidate('k'));
    await lab.fake.advance(1_100);
    await failed;
    const closed = a.close();
    await lab.fake.advance(1_999);
    expect(await stateOf(lab, closed)).toEqual({ value: undefined });
  });
});
