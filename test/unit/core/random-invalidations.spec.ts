import type { EntryKey } from '../../../lib/core/keys/index.js';
import type { LoadContext } from '../../../lib/core/load/index.js';
import type { Runtime } from '../../../lib/core/ports.js';
import type { Signal, Store } from '../../../lib/core/store.js';
import type { Process } from '../../contract/cache/lab.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { MemoryLab } from './memory-lab.js';

const MAX_LAG = 100;
const LINK_LAG = 60;

function rng(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    let x = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    x ^= x >>> 16;
    return (x >>> 0) / 2 ** 32;
  };
}

/** Every reply late, signals late by at most LINK_LAG, or lost with the proof withdrawn. */
class Late extends ForwardingStore {
  constructor(
    inner: Store,
    private readonly runtime: Runtime,
    private readonly random: () => number,
  ) {
    super(inner);
  }
  private deafUntil = -1;
  private lastSignal = 0;
  private async late<T>(run: () => Promise<T>): Promise<T> {
    await this.wait(this.random() * 8);
    const reply = await run();
    await this.wait(this.random() * 8);
    return reply;
  }
  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.runtime.timers.after(ms, resolve));
  }
  override watch(onSignal: (signal: Signal) => void) {
    return super.watch((signal) => {
      const now = this.runtime.clock.now();
      if (now < this.deafUntil) return;
      if (this.random() < 0.05) {
        this.deafUntil = now + 300;
        onSignal({ kind: 'gap' });
        this.runtime.timers.after(300, () => onSignal({ kind: 'gap' }));
        return;
      }
      const at = Math.max(this.lastSignal, now + this.random() * LINK_LAG);
      this.lastSignal = at;
      this.runtime.timers.after(at - now, () => onSignal(signal));
    });
  }
  override toldUntil(): number {
    const now = this.runtime.clock.now();
    return now < this.deafUntil + LINK_LAG ? -Infinity : now - LINK_LAG;
  }
  override pushUp(): boolean {
    return this.runtime.clock.now() >= this.deafUntil;
  }
  override read(key: EntryKey) {
    return this.late(() => super.read(key));
  }
  override acquire(...args: Parameters<Store['acquire']>) {
    return this.late(() => super.acquire(...args));
  }
  override commit(...args: Parameters<Store['commit']>) {
    return this.late(() => super.commit(...args));
  }
  override touch(...args: Parameters<Store['touch']>) {
    return this.late(() => super.touch(...args));
  }
  override release(...args: Parameters<Store['release']>) {
    return this.late(() => super.release(...args));
  }
  override put(...args: Parameters<Store['put']>) {
    return this.late(() => super.put(...args));
  }
  override invalidate(...args: Parameters<Store['invalidate']>) {
    return this.late(() => super.invalidate(...args));
  }
  override tags(ids: readonly string[]) {
    return this.late(() => super.tags(ids));
  }
  override holdTags(ids: readonly string[], ms: number) {
    return this.late(() => super.holdTags(ids, ms));
  }
  override invalidateTag(id: string, ms: number) {
    return this.late(() => super.invalidateTag(id, ms));
  }
  override epochs() {
    return this.late(() => super.epochs());
  }
  override clear(scope: string) {
    return this.late(() => super.clear(scope));
  }
  override async close(): Promise<void> {
    // shared
  }
}

interface Change {
  readonly what: string;
  /** A key, or all of them. */
  readonly keys: string;
  readonly began: number;
  readonly resolvedAt: number;
  readonly lag: number;
}

describe('random schedules of invalidations', () => {
  it.each(Array.from({ length: 12 }, (_, i) => i + 1))('seed %i', async (seed) => {
    const random = rng(seed * 7919);
    const lab = new MemoryLab();
    const { runtime } = lab.fake;
    const processes: Process[] = [];
    for (let i = 0; i < 3; i++) {
      processes.push(
        await lab.process(
          { coherence: { maxLag: MAX_LAG }, redisTimeout: 1_000 },
          (inner) => new Late(inner, runtime, random),
        ),
      );
    }
    let counter = 0;
    let loads = 0;
    const changes: Change[] = [];
    const wrong: unknown[] = [];
    /** A set may take effect until it resolves. */
    const setDone = new Map<number, number>();
    const keys = ['a', 'b'];
    const one = (): Process => processes[Math.floor(random() * 3)] as Process;
    const open = new Set<Promise<unknown>>();
    const own = (promise: Promise<unknown>): void => {
      const owned: Promise<unknown> = promise.catch(() => undefined).finally(() => open.delete(owned));
      open.add(owned);
    };
    const call = async (): Promise<void> => {
      const key = keys[Math.floor(random() * 2)] as string;
      const startedAt = runtime.clock.now();
      const mode = random();
      const lateTags = random() < 0.3;
      const load = async (ctx: LoadContext<never>): Promise<unknown> => {
        loads += 1;
        const begun = (counter += 1);
        await new Promise<void>((resolve) => void runtime.timers.after(random() * 120, resolve));
        if (mode < 0.1) ctx.skip();
        if (lateTags) ctx.tags(`late-${key}`);
        return { begun };
      };
      const policy = {
        ttl: random() < 0.5 ? 150 : 5_000,
        stale: random() < 0.3 ? 500 : 0,
        ...(random() < 0.2 && { staleIfError: 800, softTimeout: 30 }),
        earlyRefresh: random() < 0.3 ? 1 : 0,
        tags: [`tag-${key}`, 'shared'],
        lease: 300,
      };
      const options = random() < 0.1 ? { fresh: true } : {};
      const process = one();
      const value = (await process.get(key, load, policy as never, options)) as { begun: number };
      for (const change of changes) {
        if (change.keys !== 'all' && change.keys !== key) continue;
        if (change.resolvedAt + change.lag > startedAt) continue;
        if ((setDone.get(value.begun) ?? value.begun) < change.began)
          wrong.push({ seed, key, value, change, startedAt, now: runtime.clock.now() });
      }
    };
    const change = async (): Promise<void> => {
      const key = keys[Math.floor(random() * 2)] as string;
      const what = Math.floor(random() * 6);
      const began = (counter += 1);
      const { cache } = one();
      const process = one();
      if (what === 0) await process.invalidate(key);
      if (what === 1) await cache.changes.invalidateTags([`tag-${key}`]);
      if (what === 2) await cache.changes.invalidateTags(['shared']);
      if (what === 3) await cache.changes.clear(random() < 0.5 ? '' : 'Shop.find');
      if (what === 4) {
        setDone.set(began, Infinity);
        await process.set(key, { begun: began }, { tags: [`tag-${key}`, 'shared'] });
        setDone.set(began, (counter += 1));
      }
      if (what === 5)
        await cache.changes.defer(async () => {
          await process.invalidate(key);
          await cache.changes.invalidateTags(['shared']);
        });
      const all = what === 2 || what === 3 || what === 5;
      const byKey = what === 0 || what === 4;
      if (what === 5) return;
      changes.push({
        what: String(what),
        keys: all ? 'all' : key,
        began,
        resolvedAt: runtime.clock.now(),
        lag: byKey ? 0.001 : MAX_LAG + 0.001,
      });
    };
    for (let step = 0; step < 400; step++) {
      const calls = Math.floor(random() * 4);
      for (let i = 0; i < calls; i++) own(call());
      if (random() < 0.12) own(change());
      await lab.fake.advance(random() * 25);
    }
    while (open.size > 0) await lab.fake.advance(200);
    const closing = Promise.all(processes.map((process) => process.close()));
    await lab.fake.advance(10_000);
    await closing;
    await lab.store.close();
    expect(wrong.slice(0, 2)).toEqual([]);
  });
});
