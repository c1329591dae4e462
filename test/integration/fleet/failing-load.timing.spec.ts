import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../support/until.js';
import { errorsOf, Fleet, measured, serials } from './fleet.js';
import type { Order, Reply } from './fleet.worker.js';

const PROCESSES = 4;
const LOAD_MS = 100;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start({ processes: PROCESSES });
}, 30_000);
afterAll(() => fleet.stop());

function instances(replies: readonly Reply[]): number {
  return new Set(replies.map(({ error }) => error?.instance)).size;
}

describe('A load that fails', () => {
  it('rejects all 100 callers of its process with that very error, once; the next call loads again', async () => {
    await fleet.control(25);
    const key = fleet.key();
    const order: Order = { key, plan: { ms: LOAD_MS }, policy: { ttl: '1m' } };
    await fleet.source.ail(key, 'unknown');
    const replies = await fleet.workers.call(0, 'burst', order, 100);
    expect(new Set(errorsOf(replies))).toEqual(new Set(['TypeError: secret: unknown']));
    expect(errorsOf(replies)).toHaveLength(100);
    expect(instances(replies)).toBe(1);
    expect(await fleet.source.count(key)).toBe(1);

    await fleet.source.heal(key);
    const next = await fleet.workers.call(0, 'burst', order, 100);
    expect(errorsOf(next)).toEqual([]);
    expect(serials(next)).toEqual([2]);
    expect(await fleet.source.count(key)).toBe(2);
  });

  it.each([
    ['of a class that the policy lists', true],
    ['that nobody else knows', false],
  ])(
    'is tried once by four processes, when it throws an error %s',
    async (_what, known) => {
      await fleet.control(25);
      const key = fleet.key();
      const order: Order = { key, plan: { ms: LOAD_MS }, policy: { ttl: '1m' }, knowsErrors: known };
      await fleet.source.ail(key, known ? 'known' : 'unknown');
      const replies = await fleet.workers.all('burst', order, 25);
      const loads = await fleet.source.loads(key);
      expect(loads).toHaveLength(1);
      const names = replies.map((each) => [...new Set(each.map(({ error }) => error?.name ?? 'none'))]);
      const leader = loads[0]?.by;
      const elsewhere = known ? 'SourceDown' : 'RemoteLoadError';
      const own = known ? 'SourceDown' : 'TypeError';
      expect(names).toEqual(names.map((_, index) => [index === leader ? own : elsewhere]));
      for (const each of replies) expect(instances(each)).toBe(1);
      const others = replies.filter((_, index) => index !== leader).flat();
      expect(new Set(others.map(({ error }) => error?.known))).toEqual(new Set([known]));
      // Messages of errors that nobody listed stay in their process.
      expect(JSON.stringify(others.map(({ error }) => error?.message))).not.toContain('secret');
      const longest = Math.max(...replies.flat().map(({ began, ended }) => ended - began));
      measured('longest wait for a failing load, ms', { longest });
      expect(longest).toBeLessThanOrEqual(LOAD_MS + 500);
    },
    10_000,
  );
});

describe('A load that fails while an old value may stand in for it', () => {
  it('is tried once by four processes, and all of their callers get the old value', async () => {
    await fleet.control(25);
    const key = fleet.key();
    const policy = { ttl: 50, jitter: 0, earlyRefresh: 0, staleIfError: '1m' } as const;
    const order: Order = { key, plan: { ms: LOAD_MS }, policy };
    await fleet.workers.call(0, 'call', order);
    await delay(100); // it expires by the server's time
    await fleet.source.ail(key, 'unknown');
    const replies = (await fleet.workers.all('burst', order, 25)).flat();
    expect(errorsOf(replies)).toEqual([]);
    expect(serials(replies)).toEqual([1]);
    expect(new Set(replies.map(({ outcome }) => outcome))).toEqual(new Set(['stale']));
    expect(await fleet.source.count(key)).toBe(2);
    // The fleet rests: nobody waits for another attempt.
    const again = (await fleet.workers.all('burst', order, 25)).flat();
    expect(serials(again)).toEqual([1]);
    expect(await fleet.source.count(key)).toBe(2);
  }, 10_000);
});

describe('A failing refresh (FC-058)', () => {
  it('rests for the whole fleet, doubling; once the source is well again the next rest is the last', async () => {
    await fleet.control(5);
    const key = fleet.key();
    const policy = { ttl: 200, jitter: 0, earlyRefresh: 0, stale: '1m' } as const;
    const order: Order = { key, plan: { ms: 0 }, policy };
    expect(errorsOf([await fleet.workers.call(0, 'call', order)])).toEqual([]);
    await fleet.source.ail(key, 'unknown');
    await delay(250); // the entry becomes stale by the server's time

    // 1,000 reads a second over the fleet.
    const reads = fleet.workers.all('loop', order, { callers: 5, think: 20, ms: 9_000 });
    await delay(5_000);
    const starts = (await fleet.source.loads(key)).slice(1).map(({ begin }) => begin);
    await fleet.source.heal(key);
    const healed = (): Promise<boolean> =>
      fleet.source.loads(key).then((all) => all.length > 1 + starts.length);
    await until(healed, { timeout: 5_000, every: 10, what: 'a load after the source is well' });
    const [next] = (await fleet.source.loads(key)).slice(1 + starts.length);
    const results = await reads;

    const first = starts[0] ?? NaN;
    const pauses = starts.slice(1).map((start, index) => start - (starts[index] ?? NaN));
    const calls = results.reduce((sum, each) => sum + each.calls, 0);
    measured('failing refresh', { calls, pauses, healedAfter: (next?.begin ?? NaN) - first });
    expect(results.flatMap(({ errors }) => errors)).toEqual([]);
    expect(results.flatMap(({ waits }) => waits)).toEqual([]);
    expect(calls).toBeGreaterThan(3_000);
    // 0, 1, 3 s; the next would be due at 7 s. Each rest is shortened by up to a tenth.
    expect(starts.length).toBeGreaterThanOrEqual(2);
    expect(starts.length).toBeLessThanOrEqual(3);
    pauses.forEach((pause, index) => expect(pause).toBeGreaterThanOrEqual(900 * 2 ** index));
    // Within the rest that ran when the source got well.
    const lastRest = 1_000 * 2 ** (starts.length - 1);
    expect((next?.begin ?? Infinity) - (starts.at(-1) ?? NaN)).toBeLessThanOrEqual(lastRest + 500);
    // Then it is refreshed whenever it is stale again, every 200 ms.
    expect(await fleet.source.count(key)).toBeGreaterThan(starts.length + 4);
  }, 20_000);
});
