import type { EntryKey } from '../../../lib/core/keys/index.js';
import type { LoadContext } from '../../../lib/core/load/index.js';
import type { Signal, Store, TagState } from '../../../lib/core/store.js';
import { deferred } from '../../support/deferred.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { Origin } from '../../support/origin.js';
import { KeptOpen, MemoryLab } from './memory-lab.js';
import { stateOf } from './state-of.js';
import { watchUnhandled } from './watch-unhandled.js';

const LAG = { coherence: { maxLag: 100 } };

/** As a process behind a slow push link: signals come when told to; the heartbeat's proof is in the test's hands. */
class Linked extends ForwardingStore {
  deaf = false;
  told: number | undefined;
  private sink: (signal: Signal) => void = () => undefined;
  held: Signal[] = [];
  onTags: (
    run: () => Promise<readonly (TagState | undefined)[]>,
  ) => Promise<readonly (TagState | undefined)[]> = (run) => run();
  onEpochs: (run: () => Promise<ReadonlyMap<string, number>>) => Promise<ReadonlyMap<string, number>> = (
    run,
  ) => run();
  override watch(onSignal: (signal: Signal) => void) {
    this.sink = onSignal;
    return super.watch((signal) => (this.deaf ? void this.held.push(signal) : onSignal(signal)));
  }
  override toldUntil(): number {
    return this.told ?? super.toldUntil();
  }
  gap(): void {
    this.sink({ kind: 'gap' });
  }
  flush(): void {
    for (const one of this.held.splice(0)) this.sink(one);
  }
  override tags(ids: readonly string[]) {
    return this.onTags(() => super.tags(ids));
  }
  override epochs() {
    return this.onEpochs(() => super.epochs());
  }
  override async close(): Promise<void> {
    // shared
  }
}

describe('hazards of tags and epochs', () => {
  let lab: MemoryLab;
  let link!: Linked;
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });
  const linked = () => lab.process(LAG, (store: Store) => (link = new Linked(store)));
  const plain = () => lab.process(LAG, (store) => new KeptOpen(store));

  it('clear: a late joiner whose process heard nothing, after maxLag', async () => {
    const a = await linked();
    const b = await plain();
    const origin = new Origin();
    const first = a.get('k', origin.load);
    await origin.started(1);
    link.deaf = true;
    await b.cache.changes.clear();
    await lab.fake.advance(101);
    const late = a.get('k', origin.load);
    await lab.fake.settle();
    await origin.give('old');
    expect(await first).toBe('old');
    await lab.fake.settle();
    if (origin.running > 0) await origin.give('new');
    expect(await stateOf(lab, late)).toEqual({ value: 'new' });
  });

  for (const what of [
    'skip',
    'bypassed uncacheable',
    'asOf',
    'negative',
    'notModified',
    'negative error',
  ] as const) {
    it(`clear: a late joiner of a load (${what}) whose process heard nothing, after maxLag`, async () => {
      const a = await linked();
      const b = await plain();
      const origin = new Origin();
      class Missing extends Error {}
      const load = async (ctx: LoadContext<never>): Promise<unknown> => {
        const given = await origin.load();
        if (given === 'new') return given;
        if (what === 'skip') ctx.skip();
        if (what === 'asOf') ctx.asOf(0);
        if (what === 'bypassed uncacheable') return Object.assign(() => 1, { toString: () => 'old' });
        if (what === 'negative') return null;
        if (what === 'notModified') return ctx.notModified();
        if (what === 'negative error') throw new Missing('old');
        return given;
      };
      const policy = {
        ttl: 50,
        staleIfError: 60_000,
        onUncacheable: 'bypass',
        negativeErrors: Missing,
        errors: [Missing],
        negativeTtl: what === 'negative error' || what === 'negative' ? 0 : 10,
      };
      if (what === 'notModified') {
        await a.get('k', () => 'kept', policy as never);
        await lab.fake.advance(60);
      }
      const first = a.get('k', load, policy as never).catch(() => 'thrown');
      await origin.started(1);
      link.deaf = true;
      await b.cache.changes.clear();
      await lab.fake.advance(101);
      const late = a.get('k', load, policy as never);
      late.catch(() => undefined);
      await lab.fake.settle();
      await origin.give('old');
      await first;
      await lab.fake.settle();
      if (origin.running > 0) await origin.give('new');
      await lab.fake.advance(10_000);
      expect(await stateOf(lab, late)).toEqual({ value: 'new' });
    });
  }

  it('tags: replies older than a signal, a gap in between, a proof that is too old', async () => {
    const a = await linked();
    const b = await plain();
    const policy = { tags: ['t'] };
    await a.get('k', () => 'v1', policy);
    // A read of tags is under way (the book was emptied), answered before the invalidation, delivered after it.
    link.gap();
    const gate = deferred();
    link.onTags = async (run) => {
      const states = await run();
      await gate.promise;
      return states;
    };
    const before = a.get('k', () => 'v2', policy);
    await lab.fake.settle();
    await b.cache.changes.invalidateTags(['t']);
    gate.resolve();
    await before;
    link.onTags = (run) => run();
    expect(await a.get('k', () => 'v2', policy)).toBe('v2');
    // Deaf, but the proof still counts: within the lag only.
    await lab.fake.advance(1);
    link.deaf = true;
    link.told = lab.fake.runtime.clock.now();
    await b.cache.changes.invalidateTags(['t']);
    await lab.fake.advance(100);
    expect(await a.get('k', () => 'v3', policy)).toBe('v3');
  });

  it('epochs: a process that has never had an answer does not serve what was cleared', async () => {
    const b = await plain();
    await b.get('k', () => 'old');
    await b.cache.changes.clear();
    const a = await linked();
    link.onEpochs = () => Promise.reject(new Error('CLUSTERDOWN'));
    expect(await a.get('k', () => 'new')).toBe('new');
  });

  it('epochs: an answer that fails does not count as knowledge for the next maxLag', async () => {
    const a = await linked();
    const b = await plain();
    await a.get('k', () => 'old');
    link.deaf = true;
    await lab.fake.advance(200);
    link.onEpochs = () => Promise.reject(new Error('one lost reply'));
    await a.get('other', () => 1);
    link.onEpochs = (run) => run();
    const at = lab.fake.runtime.clock.now();
    await b.cache.changes.clear();
    await lab.fake.advance(100);
    expect(lab.fake.runtime.clock.now() - at).toBe(100);
    expect(await a.get('k', () => 'new')).toBe('new');
  });

  it('epochs: a load begins only with the answer that was asked for along with its lease', async () => {
    const [a, b] = [await plain(), await linked()];
    await b.get('warm', () => 'up');
    link.deaf = true;
    const answer = deferred();
    link.onEpochs = async (run) => {
      const epochs = await run();
      await answer.promise;
      return epochs;
    };
    await a.cache.changes.clear();
    const origin = new Origin();
    const loaded = b.get('k', origin.load);
    await lab.fake.settle();
    expect(origin.starts).toBe(0);
    answer.resolve();
    await origin.give('after the clear');
    await loaded;
    await lab.fake.settle();

    expect((await a.peek('k'))?.value).toBe('after the clear');
  });

  it('epochs: idle for long, cleared meanwhile: the first call knows', async () => {
    const a = await linked();
    const b = await plain();
    await a.get('k', () => 'old');
    link.deaf = true;
    await lab.fake.advance(10_000);
    await b.cache.changes.clear('Shop.find');
    expect(await a.get('k', () => 'new')).toBe('new');
  });

  it('tags: evicted and made anew while a load runs', async () => {
    const a = await linked();
    const origin = new Origin();
    const first = a.get('k', origin.load, { tags: ['t'] });
    await origin.started(1);
    await lab.fake.advance(30_000 - 1);
    await origin.give('v');
    expect(await first).toBe('v');
    expect(await a.get('k', () => 'again', { tags: ['t'] })).toBe('v');
  });

  it('tags: two processes hold one with different lives: the longer one stands', async () => {
    const a = await plain();
    const b = await plain();
    await a.get('long', () => 'v', { ttl: 600_000, tags: ['t'] });
    await b.get('short', () => 'v', { ttl: 100, tags: ['t'] });
    await lab.fake.advance(300_000);
    await b.get('short', () => 'v', { ttl: 100, tags: ['t'] });
    await lab.fake.advance(299_000);
    expect(await a.get('long', () => 'again', { ttl: 600_000, tags: ['t'] })).toBe('v');
  });

  it('soft and hard combined: hard wins, whatever the order', async () => {
    const a = await plain();
    const policy = { ttl: 60_000, stale: 60_000, tags: ['t', 'u'] };
    for (const [one, two] of [
      ['expireTags', 'invalidateTags'],
      ['invalidateTags', 'expireTags'],
    ] as const) {
      await a.get('k', () => 'old', policy);
      await a.cache.changes[one](['t']);
      await a.cache.changes[two](['u']);
      expect(await a.entry('k', () => 'new', policy)).toMatchObject({ value: 'new', outcome: 'loaded' });
      await a.invalidate('k');
    }
  });

  it('set: a younger set is not dropped by the retry of an older failed one', async () => {
    let fail = true;
    const a = await lab.process(
      {},
      (inner) =>
        new (class extends KeptOpen {
          override put(...args: Parameters<Store['put']>): ReturnType<Store['put']> {
            return fail ? Promise.reject(new Error('lost')) : super.put(...args);
          }
          override invalidate(key: EntryKey, ms: number): Promise<void> {
            return fail ? Promise.reject(new Error('lost')) : super.invalidate(key, ms);
          }
        })(inner),
    );
    await a.set('k', 1).catch(() => undefined);
    fail = false;
    await a.set('k', 2);
    await lab.fake.advance(10_000);
    expect((await a.peek('k'))?.value).toBe(2);
  });
});
