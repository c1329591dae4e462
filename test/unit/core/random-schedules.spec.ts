import type { AnyPolicy, CallOptions } from '../../../lib/core/policy/index.js';
import type { Process } from '../../contract/cache/lab.js';
import { chaotic, rng } from './chaotic.js';
import { MemoryLab } from './memory-lab.js';

interface Seen {
  readonly arrived: number;
  readonly key: string;
  readonly version: number;
  readonly how: string;
}

/** `SEEDS=500 FROM=1000 npx jest random-schedules` looks further. */
const SEEDS = Number(process.env['SEEDS'] ?? 12);
const FROM = Number(process.env['FROM'] ?? 0);

describe.each([
  ['without faults', 0],
  ['with faults', 0.06],
])('random schedules %s', (_, faults) => {
  const unhandled: unknown[] = [];
  const on = (reason: unknown): void => void unhandled.push(reason);
  beforeAll(() => void process.on('unhandledRejection', on));
  afterAll(() => void process.off('unhandledRejection', on));

  it('keep guarantee 3, settle every caller and leave nothing behind', async () => {
    const problems: string[] = [];
    const total = { calls: 0, loads: 0, fenced: 0, invalidations: 0, errors: {} as Record<string, number> };
    for (let seed = FROM; seed < FROM + SEEDS; seed++) await schedule(seed, faults, problems, total);
    // A schedule in which nothing happened would prove nothing.
    expect(total.fenced).toBeGreaterThan(SEEDS / 2);
    expect(total.invalidations).toBeGreaterThan(SEEDS);
    expect(unhandled).toEqual([]);
    expect(problems.slice(0, 10)).toEqual([]);
  }, 300_000);
});

async function schedule(
  seed: number,
  faults: number,
  problems: string[],
  total: {
    calls: number;
    loads: number;
    fenced: number;
    invalidations: number;
    errors: Record<string, number>;
  },
): Promise<void> {
  const random = rng(seed * 7919 + 13);
  const lab = new MemoryLab();
  const { fake } = lab;
  fake.setRandom(random);
  let tick = 0;
  /** The origin's version per key: each change raises it before it invalidates. */
  const versions = new Map<string, number>();
  /** Lowest version a call arriving now may see. */
  const floor = new Map<string, number>();
  const processes: Process[] = [];
  for (let i = 0; i < 3; i++) {
    processes.push(
      await lab.process({ redisTimeout: 60, loads: { concurrency: 2, queueTimeout: 200 } }, (store) =>
        chaotic(store, fake, random, faults),
      ),
    );
  }
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const keys = ['a', 'b', 'c'];
  const later = (ms: number): Promise<void> =>
    new Promise((resolve) => void fake.runtime.timers.after(ms, resolve));
  const seen: Seen[] = [];
  const open = new Set<string>();
  const work: Promise<void>[] = [];

  const loader = (p: Process, key: string, depth: number) => async (): Promise<unknown> => {
    total.loads += 1;
    const version = versions.get(key) ?? 0;
    await later(Math.floor(random() * 60));
    if (depth > 0 && random() < 0.3) {
      const other = pick(keys);
      await p.get(other, loader(p, other, depth - 1), { ttl: 40 }).catch(() => undefined);
    }
    if (random() < 0.1) throw new Error('origin');
    return random() < 0.1 ? null : { version };
  };
  const call = async (): Promise<void> => {
    const [p, key] = [pick(processes), pick(keys)];
    const policy = pick<AnyPolicy>([
      { ttl: 40 },
      { ttl: 40, stale: 30 },
      { ttl: 30, stale: 20, staleIfError: 200, softTimeout: 20, failureBackoff: 20 },
      { ttl: 60, abandon: 'abort', lease: 30 },
      { ttl: 60, waitTimeout: 30, onWaitTimeout: 'load' },
      { ttl: 60, lease: 20, loadTimeout: 50 },
      { ttl: 0 },
      { ttl: 30, earlyRefresh: { window: 20 } },
    ]);
    const controller = random() < 0.2 ? new AbortController() : undefined;
    if (controller) void later(Math.floor(random() * 60)).then(() => controller.abort(new Error('mine')));
    const options: CallOptions = {
      ...(controller && { signal: controller.signal }),
      ...(random() < 0.15 && { fresh: true }),
    };
    const id = `${total.calls++}`;
    open.add(id);
    const arrived = floor.get(key) ?? 0;
    try {
      const answer = await p.entry(key, loader(p, key, 2), policy, options);
      const version = (answer.value as { version: number } | null)?.version;
      if (version !== undefined)
        seen.push({ arrived, key, version, how: `${answer.outcome} #${id} ${JSON.stringify(policy)}` });
    } catch (error) {
      const name =
        (error as Error).message === 'mine' && !controller ? 'FOREIGN ABORT' : (error as Error).name;
      if (name === 'AbortError' || name === 'FOREIGN ABORT')
        problems.push(`seed ${seed}: ${name} ${String(error)} policy ${JSON.stringify(policy)}`);
      total.errors[name] = (total.errors[name] ?? 0) + 1;
    } finally {
      open.delete(id);
    }
  };
  const change = async (): Promise<void> => {
    const [p, key] = [pick(processes), pick(keys)];
    const version = (tick += 1);
    versions.set(key, version);
    try {
      await p.invalidate(key);
      total.invalidations += 1;
      floor.set(key, Math.max(floor.get(key) ?? 0, version));
    } catch {
      // Not acknowledged: nothing is promised.
    }
  };
  for (let step = 0; step < 120; step++) {
    const what = random();
    work.push(what < 0.85 ? call() : change());
    if (random() < 0.6) await fake.advance(Math.floor(random() * 10));
  }
  for (let i = 0; i < 60 && open.size > 0; i++) await fake.advance(1_000);
  if (open.size > 0) problems.push(`seed ${seed}: ${open.size} callers never settled`);
  await Promise.race([Promise.all(work), fake.settle()]);
  for (const { arrived, key, version, how } of seen) {
    // With lost replies a process may not learn its commit's outcome, which the guarantee excludes.
    if (version < arrived && faults === 0)
      problems.push(`seed ${seed}: ${key} version ${version} < ${arrived} ${how}`);
  }
  await fake.advance(40_000);
  for (const p of processes) {
    total.fenced += p.cache.stats().publishes.fenced;
    const { active, loads } = p.cache.stats();
    if (Object.values(active).some((count) => count !== 0))
      problems.push(`seed ${seed}: active ${JSON.stringify(active)}`);
    if (loads.started !== loads.succeeded + loads.failed)
      problems.push(`seed ${seed}: loads ${JSON.stringify(loads)}`);
    const { engine } = p.cache as unknown as {
      engine: Record<string, { size?: number; running?: Set<unknown> }>;
    };
    if (
      engine['aborts']?.size !== 0 ||
      engine['detached']?.size !== 0 ||
      engine['background']?.running?.size !== 0
    )
      problems.push(`seed ${seed}: engine holds something`);
  }
  const closing = Promise.all(processes.map((p) => p.close()));
  await fake.advance(10_000);
  await closing;
  const listeners = (lab.store as unknown as Record<string, unknown>)['wakes'];
  void listeners;
  await lab.store.close();
  const left = fake.pending();
  if (left.foreground + left.background > 0) problems.push(`seed ${seed}: timers ${JSON.stringify(left)}`);
}
