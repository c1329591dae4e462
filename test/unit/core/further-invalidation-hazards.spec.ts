import type { AcquireReply, AcquireRequest, Store } from '../../../lib/core/store.js';
import type { EntryKey } from '../../../lib/core/keys/index.js';
import type { LoadContext } from '../../../lib/core/load/index.js';
import { Origin } from '../../support/origin.js';
import { KeptOpen, MemoryLab } from './memory-lab.js';
import { stateOf } from './state-of.js';
import { watchUnhandled } from './watch-unhandled.js';

const LAG = { coherence: { maxLag: 100 } };

describe('further hazards of an invalidation', () => {
  let lab: MemoryLab;
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });

  it('a load begun while Redis was away is not joined in this process after invalidateTags was acknowledged here', async () => {
    class Away extends KeptOpen {
      away = false;
      override async acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
        if (this.away) throw new Error('away');
        return super.acquire(key, request);
      }
    }
    let store!: Away;
    const a = await lab.process(LAG, (inner: Store) => (store = new Away(inner)));
    store.away = true;
    const origin = new Origin();
    const first = a.get('k', origin.load, { tags: ['t'] });
    await origin.started(1);
    store.away = false;
    await a.cache.changes.invalidateTags(['t']);
    await lab.fake.advance(1_000);
    const late = a.get('k', origin.load, { tags: ['t'] });
    await lab.fake.settle();
    await origin.give('old');
    await first;
    await lab.fake.settle();
    if (origin.running > 0) await origin.give('new');
    expect(await stateOf(lab, late)).toEqual({ value: 'new' });
  });

  it('asOf: the age of the loaded value counts from then, as the age of a hit does', async () => {
    const a = await lab.process(LAG);
    const load = (ctx: LoadContext<never>) => (ctx.asOf(lab.store.now() - 5_000), 'v');
    expect((await a.entry('k', load)).age).toBe(5_000);
    expect((await a.entry('k', load)).age).toBe(5_000);
  });

  it('valueTags that throws costs the entry, as ttl, cacheIf and isNegative do, not the call', async () => {
    const a = await lab.process(LAG);
    const policy = {
      valueTags: () => {
        throw new TypeError('value.items is undefined');
      },
    };
    expect(await a.get('k', () => 'v', policy)).toBe('v');
  });

  it('two versions of one name in one process: a read of one is no answer for the other', async () => {
    const a = await lab.process(LAG);
    a.version = '1';
    await a.get('k', () => 'one');
    a.version = '2';
    await a.get('k', () => 'two');
    a.version = '1';
    const one = a.get('k', () => 'never');
    a.version = '2';
    const two = a.get('k', () => 'never');
    expect(await Promise.all([one, two])).toEqual(['one', 'two']);
  });

  it('two versions of one name in one process: both are announced, an invalidation elsewhere reaches both', async () => {
    const a = await lab.process(LAG);
    a.version = '1';
    await a.get('k', () => 'one');
    a.version = '2';
    await a.get('k', () => 'two');
    const b = await lab.process(LAG, (inner) => new KeptOpen(inner));
    await b.invalidate('k');
    expect(await a.get('k', () => 'new two')).toBe('new two');
  });

  it('an expired and once more loaded entry: 300 changes of all kinds leave no flight and no timer behind', async () => {
    const a = await lab.process(LAG);
    const origin = new Origin();
    const calls: Promise<unknown>[] = [];
    for (let i = 0; i < 100; i++) {
      calls.push(a.get('k', origin.load, { tags: ['t'], stale: 1_000 }).catch(() => undefined));
      await (i % 3 === 0
        ? a.expire('k')
        : i % 3 === 1
          ? a.cache.changes.expireTags(['t'])
          : a.cache.changes.clear());
    }
    let over = false;
    void Promise.all(calls).then(() => (over = true));
    while (!over) {
      if (origin.running > 0) await origin.give('v');
      await lab.fake.advance(10);
    }
    expect(a.cache.stats().active).toMatchObject({ flights: 0, refreshes: 0 });
  });
});
