import { errorOf } from '../../../contract/cache/subject.js';
import type { Process } from '../../../contract/cache/lab.js';
import { MemoryLab } from '../memory-lab.js';
import { watchUnhandled } from '../watch-unhandled.js';

const LOAD = 100;
const SLOTS = 2;
/** Twenty loads are served within it. */
const QUEUE_TIMEOUT = 1_000;
const SERVED = (SLOTS * QUEUE_TIMEOUT) / LOAD;

describe('a queue in front of the origin', () => {
  let lab: MemoryLab;
  let a: Process;
  let count = 0;
  watchUnhandled();

  beforeEach(async () => {
    lab = new MemoryLab();
    a = await lab.process({ loads: { concurrency: SLOTS, queueTimeout: QUEUE_TIMEOUT } });
  });

  const load = (): Promise<string> =>
    new Promise((resolve) => void lab.fake.runtime.timers.after(LOAD, () => resolve('v')));

  /** Calls as many new keys; `done` counts what became of them. */
  function call(many: number, done: Record<string, number>): void {
    for (let i = 0; i < many; i++)
      void a.get(`k${++count}`, load).then(
        () => (done['served'] = (done['served'] ?? 0) + 1),
        () => (done['shed'] = (done['shed'] ?? 0) + 1),
      );
  }

  /** Ten calls for each that can be served. */
  async function overload(ms: number, done: Record<string, number> = {}): Promise<void> {
    for (let at = 0; at < ms; at += LOAD) {
      call(10 * SLOTS, done);
      await lab.fake.advance(LOAD);
    }
  }

  it('takes a burst, and serves of it what it can in time', async () => {
    const done: Record<string, number> = {};
    call(10 * SERVED, done);
    await lab.fake.advance(QUEUE_TIMEOUT - 1);
    expect(done['shed']).toBeUndefined();
    await lab.fake.advance(2 * QUEUE_TIMEOUT);
    expect(done['served']).toBeGreaterThanOrEqual(SERVED);
    expect((done['served'] ?? 0) + (done['shed'] ?? 0)).toBe(10 * SERVED);
  });

  it('turns newcomers away at once when it has long been longer than it can be served in time', async () => {
    await overload(2 * QUEUE_TIMEOUT);
    const { queued } = a.cache.stats().active;
    expect(queued).toBeLessThanOrEqual(2 * SERVED);
    call(2 * SERVED, {});
    await lab.fake.settle();
    // The clock stands.
    expect(await errorOf(a.get('one more', load))).toMatchObject({ code: 'LOAD_REJECTED' });
  });

  it('goes on serving as fast as it can meanwhile', async () => {
    await overload(2 * QUEUE_TIMEOUT);
    const done: Record<string, number> = {};
    const before = a.cache.stats().loads.succeeded;
    await overload(2 * QUEUE_TIMEOUT, done);
    expect(a.cache.stats().loads.succeeded - before).toBeGreaterThanOrEqual(2 * SERVED - SLOTS);
  });

  it('takes everybody again once it was empty', async () => {
    await overload(2 * QUEUE_TIMEOUT);
    await lab.fake.advance(3 * QUEUE_TIMEOUT);
    const done: Record<string, number> = {};
    call(SERVED, done);
    await lab.fake.advance(2 * QUEUE_TIMEOUT);
    expect(done).toEqual({ served: SERVED });
  });

  it('has room for callers, however many refreshes wait', async () => {
    a = await lab.process({ loads: { concurrency: 4, queue: 10, breaker: false } });
    const policy = { ttl: 100, stale: 600_000, jitter: 0, earlyRefresh: 0 };
    for (let i = 0; i < 50; i++) await a.get(`stale${i}`, () => 'old', policy);
    await lab.fake.advance(200);
    const hung = (): Promise<never> => new Promise(() => undefined);
    for (let i = 0; i < 50; i++) await a.get(`stale${i}`, hung, policy);
    const done: Record<string, number> = {};
    call(12, done);
    await lab.fake.advance(QUEUE_TIMEOUT / 2);
    expect(done).toEqual({ served: 12 });
    await lab.fake.advance(60_000);
  });

  it('lets as many wait as may run, also while nothing is served at all', async () => {
    const hung = Array.from({ length: SLOTS }, (_, i) =>
      errorOf(a.get(`hung${i}`, () => new Promise(() => undefined))),
    );
    await overload(2 * QUEUE_TIMEOUT);
    expect(a.cache.stats().active.queued).toBeGreaterThanOrEqual(SLOTS);
    await lab.fake.advance(60_000);
    await Promise.all(hung);
  });
});
