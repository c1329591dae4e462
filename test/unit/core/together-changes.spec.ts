import { isDueEarly } from '../../../lib/core/entry/index.js';
import type { EntryKey } from '../../../lib/core/keys/index.js';
import type { AcquireReply, AcquireRequest } from '../../../lib/core/store.js';
import type { AnyPolicy } from '../../../lib/core/policy/index.js';
import { deferred, type Deferred } from '../../support/deferred.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { Origin } from '../../support/origin.js';
import { chaotic, rng } from './chaotic.js';
import { MemoryLab } from './memory-lab.js';
import { atRest, Quiet, SHARED, shares } from './quiet.js';
import { stateOf } from './state-of.js';
import { watchUnhandled } from './watch-unhandled.js';

/** Holds replies back when they have been made. */
class HoldingStore extends ForwardingStore {
  heldRead: Deferred<void> | undefined;
  heldAcquire: Deferred<void> | undefined;
  reads = 0;
  override async read(key: EntryKey): Promise<Buffer | null> {
    this.reads += 1;
    const bytes = await super.read(key);
    await this.heldRead?.promise;
    return bytes;
  }
  override async acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
    const reply = await super.acquire(key, request);
    await this.heldAcquire?.promise;
    return reply;
  }
}

describe('a change of what callers of one turn share', () => {
  let lab: MemoryLab;
  let store: HoldingStore;
  let quiet: Quiet;
  watchUnhandled();

  beforeEach(async () => {
    lab = new MemoryLab();
    quiet = await Quiet.open(lab, {}, (inner) => (store = new HoldingStore(inner)));
  });
  afterEach(() => atRest(quiet.cache.stats()));

  it('made after their read has left: nobody joins them any more', async () => {
    await quiet.set('k', 'old');
    const held = (store.heldRead = deferred());
    const before = quiet.get('k', () => 'unused');
    await lab.fake.settle();
    expect(store.reads).toBe(1);
    store.heldRead = undefined;
    const other = await Quiet.open(lab);
    await other.set('k', 'new');
    const after = quiet.get('k', () => 'unused');
    expect(after).not.toBe(before);
    expect(await after).toBe('new');
    held.resolve();
    expect(await before).toBe('old');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['invalidate', () => quiet.invalidate('k')],
    ['expire', () => quiet.expire('k')],
    ['set', () => quiet.set('k', 'new')],
    ['clear', () => quiet.cache.changes.clear()],
  ])('made here before it has left, by %s: as little', async (_, change) => {
    await quiet.set('k', 'old');
    const before = quiet.get('k', () => 'new');
    const changing = change();
    const meanwhile = quiet.get('k', () => 'new');
    const changed = changing.then(() => quiet.get('k', () => 'new'));
    expect(meanwhile).not.toBe(before);
    expect(quiet.get('k', () => 'new')).toBe(meanwhile);
    const values = await Promise.all([before, meanwhile, changed]);
    // `meanwhile` may be either: the change had not resolved.
    expect(values[2]).toBe('new');
  });

  it('made here before it has left, by tag: those who come then get nothing older', async () => {
    const policy = shares({ tags: ['t'] });
    await quiet.set('k', 'old', policy);
    const before = quiet.get('k', () => 'new', policy);
    const changed = quiet.cache.changes.invalidateTags(['t']).then(() => quiet.get('k', () => 'new', policy));
    expect(await changed).toBe('new');
    await before;
  });

  it('made elsewhere between two of them, while a load runs that began between them: the second does not take its value', async () => {
    const held = (store.heldAcquire = deferred());
    const origin = new Origin();
    const forced = quiet.get('k', origin.load, SHARED, { fresh: true });
    await lab.fake.settle();

    const first = quiet.get('k', origin.load);
    held.resolve();
    while (origin.starts === 0) await Promise.resolve();
    await lab.store.invalidate(quiet.request('k', origin.load).key, 0);
    const second = quiet.get('k', origin.load);
    // Still one turn.
    expect(second).toBe(first);

    await lab.fake.settle();
    await origin.give('before the change');
    expect(await forced).toBe('before the change');
    expect(await stateOf(lab, second)).toBe('pending');
    await origin.give('after the change');
    expect(await second).toBe('after the change');
  });

  it('random ones, of a store that is late and fails, over callers who share and callers who do not', async () => {
    const problems: string[] = [];
    const total = { shared: 0, loads: 0, changes: 0 };
    for (let seed = 0; seed < SEEDS; seed++) await schedule(seed, seed % 2 === 0 ? 0 : 0.06, problems, total);
    expect(problems.slice(0, 5)).toEqual([]);
    expect(total.shared).toBeGreaterThan(SEEDS * 20);
    expect(total.loads).toBeGreaterThan(SEEDS * 20);
    expect(total.changes).toBeGreaterThan(SEEDS * 5);
  }, 120_000);
});

/** `SEEDS=500 npx jest together-changes` looks further. */
const SEEDS = Number(process.env['SEEDS'] ?? 12);

/** Bursts of callers of one turn, with changes in their midst. */
async function schedule(
  seed: number,
  faults: number,
  problems: string[],
  total: { shared: number; loads: number; changes: number },
): Promise<void> {
  const random = rng(seed * 7919 + 29);
  const lab = new MemoryLab();
  const { fake } = lab;
  fake.setRandom(random);
  const options = { redisTimeout: 60, loads: { concurrency: 3, queueTimeout: 300, waiters: 60 } };
  const open = async () => Quiet.open(lab, options, (inner) => chaotic(inner, fake, random, faults));
  const processes = [await open(), await open()];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const policies: AnyPolicy[] = [
    shares({ lease: 400, tags: ['t'] }),
    shares({ lease: 400, ttl: 80, stale: 60, tags: ['t'], earlyRefresh: { window: 40 } }),
    { ...shares({ lease: 400, tags: ['t'] }), shared: false },
    { ...shares({ lease: 400, tags: ['t'], waitTimeout: 30, onWaitTimeout: 'load' }), shared: false },
  ];
  /** What the origin says, and the least that a call made now may be told. */
  const [versions, floor] = [new Map<string, number>(), new Map<string, number>()];
  const work = new Set<Promise<void>>();
  const own = (run: () => Promise<void>): void => {
    const running = run().finally(() => work.delete(running));
    work.add(running);
  };
  const load = (key: string) => async () => {
    total.loads += 1;
    const version = versions.get(key) ?? 0;
    await new Promise<void>((resolve) => void fake.runtime.timers.after(Math.floor(random() * 60), resolve));
    if (random() < 0.1) throw new Error('origin');
    return { version };
  };
  const call = (process: Quiet, key: string, policy: AnyPolicy): void => {
    const least = floor.get(key) ?? 0;
    own(async () => {
      const value = await process.get(key, load(key), policy).catch(() => undefined);
      total.shared += policy['shared'] === true ? 1 : 0;
      const { version } = (value ?? { version: Infinity }) as { version: number };
      // With lost replies a process may not learn its commit's outcome, which the guarantee excludes.
      if (version < least && faults === 0)
        problems.push(`seed ${seed}: ${key} got ${version}, at least ${least} was due`);
    });
  };
  const change = (process: Quiet, key: string): void =>
    own(async () => {
      const version = (versions.get(key) ?? 0) + 1;
      versions.set(key, version);
      try {
        await process.invalidate(key);
      } catch {
        return;
      }
      total.changes += 1;
      floor.set(key, Math.max(floor.get(key) ?? 0, version));
    });
  for (let step = 0; step < 60; step++) {
    const [key, process] = [pick(['a', 'b']), pick(processes)];
    for (let i = Math.floor(random() * 12); i > 0; i--) {
      call(process, key, pick(policies));
      if (random() < 0.05) change(pick(processes), key);
      // Within the turn.
      if (random() < 0.3) await Promise.resolve();
    }
    await fake.advance(Math.floor(random() * 25));
  }
  while (work.size > 0) await fake.advance(500);
  await fake.advance(10_000);
  for (const { cache } of processes) {
    try {
      atRest(cache.stats());
    } catch (error) {
      problems.push(`seed ${seed}: ${String(error)}`);
    }
    const closing = cache.close();
    await fake.advance(10_000);
    await closing;
  }
}

describe('an early refresh asked for by many at once', () => {
  const entry = { kind: 'value', softAt: 1_000, cost: 50, ttl: 10_000 } as const;
  it.each([
    ['by beta', { beta: 1 }],
    ['by window', { window: 400 }],
  ])('%s: is as likely as if each of them drew', (_, early) => {
    const random = rng(4_711);
    const tries = 4_000;
    const readers = 8;
    // Once each: a fifth to a half of the tries.
    const now = 'beta' in early ? 1_000 - 170 : 1_000 - 380;
    let [together, apart] = [0, 0];
    for (let i = 0; i < tries; i++) {
      if (isDueEarly(entry, now, early, random, readers)) together += 1;
      const each = Array.from({ length: readers }, () => isDueEarly(entry, now, early, random));
      if (each.includes(true)) apart += 1;
    }
    expect(apart).toBeGreaterThan(tries * 0.1);
    expect(apart).toBeLessThan(tries * 0.7);
    // Four standard deviations of their difference.
    expect(Math.abs(together - apart)).toBeLessThan(4 * Math.sqrt(2 * tries * 0.25));
  });
});
