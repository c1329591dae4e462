import type { LoadManyError } from '../../../../lib/core/errors.js';
import type { AnyPolicy, CallOptions } from '../../../../lib/core/policy/index.js';
import type { Process } from '../../../contract/cache/lab.js';
import { chaotic, rng } from '../chaotic.js';
import { MemoryLab } from '../memory-lab.js';
import { watchUnhandled } from '../watch-unhandled.js';

/** `SEEDS=500 FROM=1000 npx jest random-batches` looks further. */
const SEEDS = Number(process.env['SEEDS'] ?? 12);
const FROM = Number(process.env['FROM'] ?? 0);

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const FENCED: readonly AnyPolicy[] = [
  { ttl: 40 },
  { ttl: 40, stale: 30 },
  { ttl: 30, stale: 20, staleIfError: 200, softTimeout: 20, failureBackoff: 20 },
  { ttl: 60, abandon: 'abort', lease: 30 },
  { ttl: 60, waitTimeout: 30, onWaitTimeout: 'load' },
  { ttl: 60, lease: 20, loadTimeout: 50 },
  { ttl: 0 },
  { ttl: 30, earlyRefresh: { window: 20 } },
];
const ANY: readonly AnyPolicy[] = [...FENCED, { ttl: 40, coordinate: 'process' }];

interface Versioned {
  readonly version: number;
}

interface Totals {
  loaderCalls: number;
  shared: number;
  fenced: number;
  partial: number;
}

describe.each([
  ['without faults', 0],
  ['with faults', 0.06],
])('random calls for many, %s', (_, faults) => {
  watchUnhandled();

  it('keep guarantee 3 for each id, settle every caller and leave nothing behind', async () => {
    const problems: string[] = [];
    const totals: Totals = { loaderCalls: 0, shared: 0, fenced: 0, partial: 0 };
    for (let seed = FROM; seed < FROM + SEEDS; seed++) {
      await new Schedule(seed, faults, problems, totals).run();
    }
    // A schedule in which nothing happened would prove nothing.
    expect(totals.shared).toBeGreaterThan(SEEDS * 5);
    expect(totals.fenced).toBeGreaterThan(SEEDS / 2);
    expect(totals.partial).toBeGreaterThan(SEEDS / 2);
    expect(problems.slice(0, 10)).toEqual([]);
  }, 300_000);
});

class Schedule {
  private readonly random: () => number;
  private readonly lab = new MemoryLab();
  /** The origin's version by key: each change raises it before it invalidates. */
  private readonly versions = new Map<string, number>();
  /** The lowest version that a call arriving now may see. */
  private readonly floor = new Map<string, number>();
  private readonly processes: Process[] = [];
  private tick = 0;
  private open = 0;

  constructor(
    private readonly seed: number,
    private readonly faults: number,
    private readonly problems: string[],
    private readonly totals: Totals,
  ) {
    this.random = rng(seed * 7919 + 29);
    this.lab.fake.setRandom(this.random);
  }

  async run(): Promise<void> {
    const { fake } = this.lab;
    const options = { redisTimeout: 60, loads: { concurrency: 2, queueTimeout: 200 } };
    for (let i = 0; i < 3; i++) {
      const process = await this.lab.process(options, (store) =>
        chaotic(store, fake, this.random, this.faults),
      );
      process.name = '';
      this.processes.push(process);
    }
    for (let step = 0; step < 80; step++) {
      const what = this.random();
      if (what < 0.65) void this.many();
      else if (what < 0.85) void this.single();
      else void this.change();
      if (this.random() < 0.6) await fake.advance(Math.floor(this.random() * 10));
    }
    for (let i = 0; i < 60 && this.open > 0; i++) await fake.advance(1_000);
    if (this.open > 0) this.complain(`${this.open} callers never settled`);
    await fake.advance(40_000);
    for (const process of this.processes) this.inspect(process);
    const closing = Promise.all(this.processes.map((process) => process.close()));
    await fake.advance(10_000);
    await closing;
    await this.lab.store.close();
    const { foreground, background } = fake.pending();
    if (foreground + background > 0) this.complain(`${foreground}, ${background} timers were left`);
  }

  private complain(problem: string): void {
    this.problems.push(`seed ${this.seed}: ${problem}`);
  }

  private pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)] as T;
  }

  private later(ms: number): Promise<void> {
    return new Promise((resolve) => void this.lab.fake.runtime.timers.after(ms, resolve));
  }

  private some(): string[] {
    const share = this.random();
    return KEYS.filter(() => this.random() < share).sort(() => this.random() - 0.5);
  }

  private loader(
    process: Process,
    depth: number,
  ): (ids: readonly string[]) => Promise<Map<string, Versioned>> {
    return async (ids) => {
      this.totals.loaderCalls += 1;
      if (ids.length > 1) this.totals.shared += 1;
      if (ids.length === 0) this.complain('a loader was given no id');
      const rows = ids.map((id) => [id, { version: this.versions.get(id) ?? 0 }] as const);
      await this.later(Math.floor(this.random() * 60));
      if (depth > 0 && this.random() < 0.4) {
        await process
          .many(this.some(), this.loader(process, depth - 1) as never, { ttl: 40 })
          .catch(() => undefined);
      }
      if (this.random() < 0.1) throw new Error('origin');
      return new Map(rows.filter(() => this.random() < 0.9));
    };
  }

  private async many(): Promise<void> {
    const [process, ids, policy] = [this.pick(this.processes), this.some(), this.pick(this.policies)];
    const arrived = new Map(this.floor);
    const maxBatch = this.random() < 0.5 ? 3 : 500;
    const load = this.loader(process, 2) as never;
    await this.watch(policy, async (call) => {
      const found = await process
        .many<Versioned>(ids, load, { ...policy, maxBatch }, call)
        .catch((error: Partial<LoadManyError>) => this.partOf(error, ids));
      const order = [...found.keys()] as string[];
      if (order.join() !== ids.filter((id) => found.has(id)).join()) this.complain(`order ${order.join()}`);
      for (const [id, { version }] of found) this.judge(id as string, version, arrived, policy);
    });
  }

  /** What a call that failed in part has all the same. */
  private partOf(error: Partial<LoadManyError>, ids: readonly string[]): Map<unknown, Versioned> {
    const { results, errors } = error;
    if (!results || !errors) throw error;
    if (results.size > 0) this.totals.partial += 1;
    if ([...results.keys()].some((id) => errors.has(id)) || results.size + errors.size > ids.length)
      this.complain('an id is among results and errors');
    return results as Map<unknown, Versioned>;
  }

  private async single(): Promise<void> {
    const [process, id, policy] = [this.pick(this.processes), this.pick(KEYS), this.pick(this.policies)];
    const arrived = new Map(this.floor);
    const load = this.loader(process, 1);
    await this.watch(policy, async (call) => {
      const value = await process.get(id, async () => (await load([id])).get(id), policy, call);
      if (value !== undefined) this.judge(id, (value as Versioned).version, arrived, policy);
    });
  }

  /** Runs a call, whose signal aborts at times. */
  private async watch(policy: AnyPolicy, run: (call: CallOptions) => Promise<void>): Promise<void> {
    const controller = this.random() < 0.2 ? new AbortController() : undefined;
    const mine = new Error('mine');
    if (controller) void this.later(Math.floor(this.random() * 60)).then(() => controller.abort(mine));
    this.open += 1;
    try {
      await run({
        ...(controller && { signal: controller.signal }),
        ...(this.random() < 0.15 && { fresh: true }),
      });
    } catch (error) {
      const isForeign = (error as Error).message === 'mine' && error !== mine;
      if (isForeign || (error as Error).name === 'AbortError')
        this.complain(`${String(error)} with ${JSON.stringify(policy)}`);
    } finally {
      this.open -= 1;
    }
  }

  private judge(id: string, version: number, arrived: ReadonlyMap<string, number>, policy: AnyPolicy): void {
    // A lost reply leaves a commit's outcome open, which the guarantee excludes. So do writes without a fence.
    if (this.faults > 0 || !this.isFenced) return;
    const least = arrived.get(id) ?? 0;
    if (version < least) this.complain(`${id} version ${version} < ${least} ${JSON.stringify(policy)}`);
  }

  private get isFenced(): boolean {
    return this.seed % 3 > 0;
  }

  private get policies(): readonly AnyPolicy[] {
    return this.isFenced ? FENCED : ANY;
  }

  private async change(): Promise<void> {
    const [process, id] = [this.pick(this.processes), this.pick(KEYS)];
    const version = (this.tick += 1);
    this.versions.set(id, version);
    try {
      await process.invalidate(id);
      this.floor.set(id, Math.max(this.floor.get(id) ?? 0, version));
    } catch {
      // Not acknowledged: nothing is promised.
    }
  }

  private inspect({ cache }: Process): void {
    const { active, loads, publishes } = cache.stats();
    this.totals.fenced += publishes.fenced;
    if (Object.values(active).some((count) => count !== 0)) this.complain(`active ${JSON.stringify(active)}`);
    if (loads.started !== loads.succeeded + loads.failed) this.complain(`loads ${JSON.stringify(loads)}`);
    const { pace } = cache as unknown as {
      pace: Record<'reads' | 'asks', { inside: number; waiting: Set<unknown> }>;
    };
    for (const { inside, waiting } of [pace.reads, pace.asks])
      if (inside + waiting.size > 0) this.complain(`${inside} inside, ${waiting.size} waiting`);
  }
}
