import type { Change } from '../../../lib/core/deferral/index.js';
import { Unsettled } from '../../../lib/core/changes/unsettled.js';
import { Distrust } from '../../../lib/core/coherence/index.js';
import type { StoredEntry } from '../../../lib/core/entry/index.js';
import type { EntryKey } from '../../../lib/core/keys/index.js';
import type { Store } from '../../../lib/core/store.js';
import { errorOf } from '../../contract/cache/subject.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { MemoryLab } from './memory-lab.js';

/** Changes fail while `isIll`: some were carried out all the same, none is acknowledged. */
class IllForChanges extends ForwardingStore {
  isIll = false;
  attempts = 0;
  /** Carries changes out and loses the reply. */
  losesReplies = false;

  override invalidate(key: EntryKey, holdOffMs: number): Promise<void> {
    return this.attempt(() => super.invalidate(key, holdOffMs));
  }
  override expire(key: EntryKey): Promise<void> {
    return this.attempt(() => super.expire(key));
  }
  override put(...args: Parameters<Store['put']>): ReturnType<Store['put']> {
    return this.attempt(() => super.put(...args));
  }
  override invalidateTag(...args: Parameters<Store['invalidateTag']>): ReturnType<Store['invalidateTag']> {
    return this.attempt(() => super.invalidateTag(...args));
  }
  override clear(scope: string): Promise<number> {
    return this.attempt(() => super.clear(scope));
  }

  private async attempt<T>(change: () => Promise<T>): Promise<T> {
    this.attempts += 1;
    if (!this.isIll) return change();
    if (this.losesReplies) await change();
    throw new Error('READONLY You can not write against a read only replica.');
  }
}

describe('a change that the store did not acknowledge', () => {
  let lab: MemoryLab;
  let ill: IllForChanges;

  beforeEach(() => {
    lab = new MemoryLab();
  });
  afterEach(() => lab.store.close());

  async function open() {
    const process = await lab.process({}, (store) => (ill = new IllForChanges(store)));
    return process;
  }

  /** A cache with changes pending goes on trying for a moment. */
  async function end(process: Awaited<ReturnType<typeof open>>) {
    const closed = process.close();
    await lab.fake.advance(2_000);
    await closed;
  }

  const changes = [
    ['invalidate', (a) => a.invalidate('k'), 'k'],
    ['set', (a) => a.set('k', 'set'), 'k'],
    ['invalidateTags', (a) => a.cache.changes.invalidateTags(['t']), 'tag t'],
    ['clear', (a) => a.cache.changes.clear(), 'everything'],
    ['clear of a name', (a) => a.cache.changes.clear('Shop.find'), 'all entries of Shop.find'],
  ] as [string, (a: Awaited<ReturnType<typeof open>>) => Promise<void>, string][];

  describe.each(changes)('%s', (_, change, label) => {
    it('rejects with what it concerned, is an event, and never counts as done', async () => {
      const a = await open();
      ill.isIll = true;
      const error = await errorOf(change(a));

      expect(error).toMatchObject({ code: 'INVALIDATION_FAILED' });
      expect((error as { keys: string[] }).keys).toEqual([expect.stringContaining(label)]);
      expect((error as Error).message).toContain('READONLY');
      expect(a.events.filter(({ type }) => type === 'invalidate')).toMatchObject([{ result: 'failed' }]);
      expect(a.cache.stats()).toMatchObject({ invalidations: 0, active: { unsettled: 1 } });
      await end(a);
    });

    it('makes this process distrust what it concerns, until a retry succeeds', async () => {
      const a = await open();
      await a.get('k', () => 'old', { tags: ['t'], stale: 60_000 });
      await lab.fake.advance(1_000);
      ill.isIll = true;
      await errorOf(change(a));
      expect(await a.peek('k')).toBeUndefined();
      await lab.fake.advance(1_000);
      expect(await a.get('k', () => 'new', { tags: ['t'] })).toBe('new');
      // What was loaded after the change is believed again.
      expect((await a.peek('k'))?.value).toBe('new');
      ill.isIll = false;
      await lab.fake.advance(10_000);
      expect(a.cache.stats().active.unsettled).toBe(0);
      expect(a.events.filter(({ type }) => type === 'invalidate').at(-1)).toMatchObject({
        result: 'retried',
      });
      await end(a);
    });
  });

  it('reaches the other processes by the retry', async () => {
    const [a, b] = [await open(), await lab.process()];
    await a.get('k', () => 'old');
    ill.isIll = true;
    await errorOf(a.invalidate('k'));
    expect((await b.peek('k'))?.value).toBe('old');
    ill.isIll = false;
    a.cache.report('up', 'connected');
    await lab.fake.advance(0);
    expect(await b.peek('k')).toBeUndefined();
    await Promise.all([a.close(), b.close()]);
  });

  it('is tried again ever more rarely, and not at all once it is settled otherwise', async () => {
    const a = await open();
    ill.isIll = true;
    await errorOf(a.invalidate('k'));
    await lab.fake.advance(60_000);
    expect(ill.attempts).toBeGreaterThan(8);
    expect(ill.attempts).toBeLessThan(30);
    ill.isIll = false;
    await a.set('k', 'v');
    const { attempts } = ill;
    await lab.fake.advance(30_000);
    expect(ill.attempts).toBe(attempts);
    expect((await a.peek('k'))?.value).toBe('v');
    await end(a);
  });

  it('of a set is retried as an invalidation: its value may be old by then', async () => {
    const a = await open();
    await a.get('k', () => 'old');
    ill.isIll = true;
    await errorOf(a.set('k', 'set'));
    ill.isIll = false;
    await lab.fake.advance(1_000);
    expect(await a.peek('k')).toBeUndefined();
    await end(a);
  });

  it('only softly distrusts nothing, and does not take the place of a harder one', async () => {
    const a = await open();
    await a.get('k', () => 'old', { stale: 60_000 });
    ill.isIll = true;
    await errorOf(a.expire('k'));
    expect((await a.peek('k'))?.value).toBe('old');
    await errorOf(a.invalidate('k'));
    await errorOf(a.expire('k'));
    ill.isIll = false;
    await lab.fake.advance(1_000);
    expect(await lab.store.read(a.about('k').key)).toBeNull();
    await end(a);
  });

  it('is bounded: the oldest are forgotten, and everything loaded before them distrusted', async () => {
    const { runtime } = lab.fake;
    const distrust = new Distrust(runtime.clock, runtime.clock);
    const forgotten: number[] = [];
    const unsettled = new Unsettled(distrust, runtime, {
      onSettled: () => undefined,
      onForgotten: (count) => void forgotten.push(count),
    });
    const key = { id: 'victim', variant: '', digest: '' };
    const about = (id: string) => ({ key: { ...key, id }, name: '' });
    const change = (id: string): Change => ({
      what: 'invalidate',
      subject: { kind: 'key', id },
      about: about(id),
      holdOffMs: 0,
      apply: () => Promise.reject(new Error('still ill')),
    });
    const entry = (loadStart: number) => ({ header: { loadStart, tags: [] } }) as unknown as StoredEntry;
    unsettled.add(change('victim'), { since: 1_000, order: 1 });
    for (let index = 0; index < 10_000; index++)
      unsettled.add(change(`k${index}`), { since: 2_000, order: 2 });

    expect(unsettled.size).toBe(10_000);
    expect(forgotten).toEqual([1]);
    expect(distrust.rejects(entry(1_000), key, '')).toBe(true);
    expect(distrust.rejects(entry(1_000), { ...key, id: 'another' }, '')).toBe(true);
    expect(distrust.rejects(entry(1_900), key, '')).toBe(false);
    expect(distrust.rejects(entry(1_900), { ...key, id: 'k7' }, '')).toBe(true);
    const closed = unsettled.close();
    await lab.fake.advance(1_000);
    await closed;
    expect(forgotten).toEqual([1, 10_000]);
  });

  it('is tried once more at the end', async () => {
    const [a, b] = [await open(), await lab.process()];
    await a.get('k', () => 'old');
    ill.isIll = true;
    await errorOf(a.invalidate('k'));
    ill.isIll = false;
    await end(a);
    expect(await b.peek('k')).toBeUndefined();
    await b.close();
    expect(lab.fake.pending().foreground).toBe(0);
  });

  it('after a transaction carries the result of the run', async () => {
    const a = await open();
    ill.isIll = true;
    const run = a.cache.changes.defer(async () => {
      await a.invalidate('k');
      return { order: 42 };
    });

    expect(await errorOf(run)).toMatchObject({ code: 'INVALIDATION_FAILED', result: { order: 42 } });
    await end(a);
  });

  it('though it was carried out is retried without harm', async () => {
    const a = await open();
    ill.isIll = true;
    ill.losesReplies = true;
    await errorOf(a.cache.changes.clear());
    await a.get('k', () => 'new');
    ill.isIll = false;
    await lab.fake.advance(10_000);
    expect(a.cache.stats().active.unsettled).toBe(0);
    await end(a);
  });
});
