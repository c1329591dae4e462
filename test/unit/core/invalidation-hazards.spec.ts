import type { EntryKey } from '../../../lib/core/keys/index.js';
import type { LoadContext } from '../../../lib/core/load/index.js';
import type { CommitReply, CommitRequest, TagState } from '../../../lib/core/store.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { Origin } from '../../support/origin.js';
import { MemoryLab, KeptOpen } from './memory-lab.js';
import { stateOf } from './state-of.js';
import { watchUnhandled } from './watch-unhandled.js';

const LAG = { coherence: { maxLag: 100 } };

describe('hazards of an invalidation for loads under way', () => {
  let lab: MemoryLab;
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });

  for (const how of ['tag', 'clear'] as const) {
    it(`asOf: a value whose life is over is not handed to who joined after ${how}`, async () => {
      const [a, b] = [await lab.process(LAG), await lab.process(LAG)];
      const origin = new Origin();
      const long = lab.store.now() - 3_600_000;
      const load = (ctx: LoadContext<never>) => (ctx.asOf(long), origin.load());
      const policy = { ttl: 60_000, tags: ['t'] };
      const first = a.get('k', load, policy);
      await origin.started(1);
      if (how === 'tag') await b.cache.changes.invalidateTags(['t']);
      else await b.cache.changes.clear();
      await lab.fake.advance(200);
      // In memory a clear is told at once and detaches: lose nothing, join by hand below.
      const late = a.get('k', load, policy);
      await lab.fake.settle();
      await origin.give('old');
      expect(await stateOf(lab, first)).toEqual({ value: 'old' });
      await lab.fake.settle();
      if (origin.running > 0) await origin.give('new');
      expect(await stateOf(lab, late)).toEqual({ value: 'new' });
    });
  }

  it("an unstored 'not found' (negativeErrors) is not handed to who joined after invalidateTags", async () => {
    const [a, b] = [await lab.process(LAG), await lab.process(LAG)];
    const origin = new Origin();
    class Missing extends Error {}
    const policy = { tags: ['t'], negativeErrors: Missing, errors: [Missing], negativeTtl: 0 };
    const first = a.get('k', origin.load, policy as never).catch(() => 'missing');
    await origin.started(1);
    await b.cache.changes.invalidateTags(['t']);
    await lab.fake.advance(200);
    const late = a.get('k', origin.load, policy as never);
    late.catch(() => undefined);
    await lab.fake.settle();
    await origin.fail(new Missing('no such product'));
    expect(await first).toBe('missing');
    await lab.fake.settle();
    if (origin.running > 0) await origin.give('new');
    expect(await stateOf(lab, late)).toEqual({ value: 'new' });
  });

  it("an unstored 'not found' is not handed to waiters in another process who came after invalidateTags", async () => {
    const [a, b] = [await lab.process(LAG), await lab.process(LAG)];
    const origin = new Origin();
    class Missing extends Error {}
    const policy = { tags: ['t'], negativeErrors: Missing, errors: [Missing], negativeTtl: 0 };
    const first = a.get('k', origin.load, policy as never).catch(() => 'missing');
    await origin.started(1);
    await b.cache.changes.invalidateTags(['t']);
    await lab.fake.advance(200);
    const late = b.get('k', origin.load, policy as never);
    late.catch(() => undefined);
    await lab.fake.settle();
    await origin.fail(new Missing('no such product'));
    expect(await first).toBe('missing');
    await lab.fake.settle();
    if (origin.running > 0) await origin.give('new');
    expect(await stateOf(lab, late)).toEqual({ value: 'new' });
  });

  it('a commit that the store fenced is believed although the look at the tags failed', async () => {
    class Ill extends ForwardingStore {
      ill = false;
      override async holdTags(ids: readonly string[], ms: number): Promise<readonly TagState[]> {
        if (this.ill) throw new Error('CLUSTERDOWN');
        return super.holdTags(ids, ms);
      }
    }
    let ill!: Ill;
    const a = await lab.process(LAG, (store) => (ill = new Ill(store)));
    const b = await lab.process(LAG);
    const origin = new Origin();
    const first = a.get('k', origin.load, { tags: ['t'] });
    await origin.started(1);
    await b.invalidate('k');
    const late = a.get('k', origin.load, { tags: ['t'] });
    await lab.fake.settle();
    ill.ill = true;
    await origin.give('old');
    expect(await first).toBe('old');
    await lab.fake.settle();
    ill.ill = false;
    if (origin.running > 0) await origin.give('new');
    expect(await stateOf(lab, late)).toEqual({ value: 'new' });
  });

  it('tags known to have changed are believed although the commit failed', async () => {
    class Ill extends ForwardingStore {
      ill = false;
      override async commit(key: EntryKey, request: CommitRequest): Promise<CommitReply> {
        if (this.ill) throw new Error('OOM');
        return super.commit(key, request);
      }
    }
    let ill!: Ill;
    const a = await lab.process(LAG, (store) => (ill = new Ill(store)));
    const origin = new Origin();
    const first = a.get('k', origin.load, { tags: ['t'] });
    await origin.started(1);
    await a.cache.changes.invalidateTags(['t']);
    await lab.fake.advance(200);
    const late = a.get('k', origin.load, { tags: ['t'] });
    await lab.fake.settle();
    ill.ill = true;
    await origin.give('old');
    expect(await first).toBe('old');
    await lab.fake.settle();
    ill.ill = false;
    // The old flight's lease is left behind by the failed commit.
    await lab.fake.advance(4_000);
    if (origin.running > 0) await origin.give('new');
    expect(await stateOf(lab, late)).toEqual({ value: 'new' });
  });

  it('an entry that clear made unreadable does not keep a smaller source version from being stored', async () => {
    const a = await lab.process(LAG);
    const v = (n: number) => (ctx: LoadContext<never>) => (ctx.sourceVersion(n), `v${n}`);
    await a.get('k', v(50), {});
    await a.cache.changes.clear();
    let loads = 0;
    for (let i = 0; i < 5; i++) await a.get('k', (ctx) => ((loads += 1), v(1)(ctx)), {});
    expect(loads).toBe(1);
  });

  it('an entry that a tag made unreadable does not keep a smaller source version from being stored', async () => {
    const a = await lab.process(LAG);
    const v = (n: number) => (ctx: LoadContext<never>) => (ctx.sourceVersion(n), `v${n}`);
    await a.get('k', v(50), { tags: ['t'] });
    await a.cache.changes.invalidateTags(['t']);
    let loads = 0;
    for (let i = 0; i < 5; i++) await a.get('k', (ctx) => ((loads += 1), v(1)(ctx)), { tags: ['t'] });
    expect(loads).toBe(1);
  });

  for (const how of ['tag', 'clear', 'key'] as const) {
    it(`ctx.stale: a load begun after an invalidation by ${how} does not see (or keep) what was invalidated`, async () => {
      // b reads a stale entry, then waits for a slot or a lease; the entry is invalidated meanwhile.
      const [a, b, c] = [await lab.process(LAG), await lab.process(LAG), await lab.process(LAG)];
      const policy = { ttl: 50, stale: 0, staleIfError: 60_000, tags: ['t'] };
      await a.get('k', () => 'poison', policy);
      await lab.fake.advance(60);
      const busy = new Origin();
      const first = a.get('k', busy.load, { ...policy, loadTimeout: 1_000 });
      await busy.started(1);
      const seen: unknown[] = [];
      const second = b.get(
        'k',
        (ctx) => (seen.push(ctx.stale), ctx.stale === undefined ? 'new' : ctx.notModified()),
        policy,
      );
      await lab.fake.settle();
      if (how === 'tag') await c.cache.changes.invalidateTags(['t']);
      if (how === 'clear') await c.cache.changes.clear();
      if (how === 'key') await c.invalidate('k');
      await lab.fake.advance(200);
      // Called after the invalidation resolved.
      const late = b.get('k', () => 'new', policy);
      first.catch(() => undefined);
      await lab.fake.advance(5_000);
      await stateOf(lab, second);
      expect({ late: await stateOf(lab, late), seen }).toMatchObject({ late: { value: 'new' } });
      expect(seen.filter((one) => one !== undefined)).toEqual([]);
    });
  }

  it('ctx.stale: a load that waited for a slot does not keep what was invalidated by tag', async () => {
    const a = await lab.process({ ...LAG, loads: { concurrency: 1, queueTimeout: 10_000 } });
    const b = await lab.process(LAG);
    const policy = { ttl: 50, stale: 0, staleIfError: 60_000, tags: ['t'] };
    await a.get('k', () => 'poison', policy);
    await lab.fake.advance(60);
    const busy = new Origin();
    const other = a.get('other', busy.load, {});
    await busy.started(1);
    const seen: unknown[] = [];
    const load = (ctx: LoadContext<never>) => (
      seen.push(ctx.stale),
      ctx.stale === undefined ? 'new' : ctx.notModified()
    );
    const second = a.get('k', load, policy);
    await lab.fake.settle();
    await b.cache.changes.invalidateTags(['t']);
    await lab.fake.advance(5_000);
    await busy.give('x');
    await other;
    await second;
    expect(seen).toEqual([undefined]);
    expect((await b.peek('k'))?.value).not.toBe('poison');
  });

  for (const push of [true, false]) {
    it(`waiters elsewhere do not load one each while a long load replaces an entry dead by its tag (push ${push})`, async () => {
      class NoPush extends ForwardingStore {
        override pushUp(): boolean {
          return push && super.pushUp();
        }
      }
      const a = await lab.process(LAG);
      const b = await lab.process(LAG, (store) => new NoPush(new KeptOpen(store)));
      const policy = { ttl: 600_000, tags: ['t'] };
      await a.get('k', () => 'old', policy);
      await a.cache.changes.invalidateTags(['t']);
      await lab.fake.advance(200);
      const origin = new Origin();
      const first = a.get('k', origin.load, policy);
      await origin.started(1);
      let loadsOfB = 0;
      const calls = Array.from({ length: 50 }, () => b.get('k', () => ((loadsOfB += 1), 'mine'), policy));
      await lab.fake.advance(push ? 20_000 : 3_000);
      expect(loadsOfB).toBe(0);
      await origin.give('new');
      await first;
      await lab.fake.advance(2_000);
      expect(await Promise.all(calls)).toEqual(calls.map(() => 'new'));
    });
  }

  it('waiters elsewhere with fresh: true do not load one each while a long load runs', async () => {
    const [a, b] = [await lab.process(LAG), await lab.process(LAG)];
    await a.get('k', () => 'old', {});
    const origin = new Origin();
    const first = a.get('k', origin.load, {}, { fresh: true });
    await origin.started(1);
    let loadsOfB = 0;
    const calls = Array.from({ length: 50 }, () =>
      b.get('k', () => ((loadsOfB += 1), 'mine'), {}, { fresh: true }),
    );
    await lab.fake.advance(20_000);
    const during = loadsOfB;
    await origin.give('new');
    await first;
    await lab.fake.advance(2_000);
    await Promise.all(calls);
    expect(during).toBe(0);
    expect(loadsOfB).toBeLessThanOrEqual(1);
  });

  it('a failed invalidateTags: this process gives nobody the value of a load begun before it', async () => {
    class Ill extends ForwardingStore {
      override async invalidateTag(): Promise<never> {
        throw new Error('READONLY');
      }
    }
    const a = await lab.process(LAG, (store) => new Ill(new KeptOpen(store)));
    const origin = new Origin();
    const first = a.get('k', origin.load, { tags: ['t'] });
    await origin.started(1);
    await lab.fake.advance(1_000);
    await expect(a.cache.changes.invalidateTags(['t'])).rejects.toMatchObject({
      code: 'INVALIDATION_FAILED',
    });
    await lab.fake.advance(1_000);
    const late = a.get('k', origin.load, { tags: ['t'] });
    await lab.fake.settle();
    await origin.give('old');
    await first;
    await lab.fake.settle();
    if (origin.running > 0) await origin.give('new');
    expect(await stateOf(lab, late)).toEqual({ value: 'new' });
  });

  it('asOf behind by more than the ttl: a hot key with a stale window is not refreshed without a pause', async () => {
    const a = await lab.process(LAG);
    let loads = 0;
    const load = async (ctx: LoadContext<never>) => {
      loads += 1;
      ctx.asOf(lab.store.now() - 120_000);
      return loads;
    };
    const policy = { ttl: 60_000, stale: 3_600_000 };
    await a.get('k', load, policy);
    for (let i = 0; i < 1_000; i++) {
      await a.get('k', load, policy);
      await lab.fake.settle();
    }
    // No time has passed at all.
    expect(loads).toBeLessThanOrEqual(3);
  });

  it("'older': a hot key whose source lags behind is not loaded without a pause", async () => {
    const a = await lab.process(LAG);
    const policy = { ttl: 1_000, stale: 0, staleIfError: 3_600_000 };
    await a.get('k', (ctx) => (ctx.sourceVersion(9), 'v9'), policy);
    await lab.fake.advance(2_000);
    let loads = 0;
    for (let i = 0; i < 100; i++) await a.get('k', (ctx) => (ctx.sourceVersion(1), (loads += 1)), policy);
    expect(loads).toBeLessThanOrEqual(3);
  });

  it('late tags: loads of a hot key in the 2 s after an invalidation', async () => {
    const a = await lab.process(LAG);
    const policy = { valueTags: () => ['t'] };
    await a.get('k', () => 1, policy);
    await a.cache.changes.invalidateTags(['t']);
    await lab.fake.advance(200);
    let loads = 0;
    for (let i = 0; i < 100; i++) {
      await a.get('k', () => (loads += 1), policy);
      await lab.fake.advance(10);
    }
    expect(loads).toBeLessThanOrEqual(2);
  });

  it('two variants of one name in one process', async () => {
    const a = await lab.process(LAG);
    a.version = '1';
    const origin = new Origin();
    const first = a.get('k', origin.load);
    await origin.started(1);
    a.version = '2';
    const second = a.get('k', () => 'of version 2');
    await lab.fake.settle();
    await origin.give('of version 1');
    await first;
    expect(await stateOf(lab, second)).toEqual({ value: 'of version 2' });
  });
});
