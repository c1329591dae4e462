import type { AnyPolicy, CallOptions } from '../../../lib/core/policy/index.js';
import { createMemoryStore } from '../../../lib/memory/index.js';
import { errorOf } from '../../contract/cache/subject.js';
import { Process } from '../../contract/cache/lab.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { createFakeRuntime, type FakeRuntime } from '../../support/fake-runtime.js';
import { Origin } from '../../support/origin.js';
import { until } from '../../support/until.js';
import { KeptOpen } from './memory-lab.js';
import { watchUnhandled } from './watch-unhandled.js';

const LARGE = 'x'.repeat(64 * 1_024);
const SMALL = 'x'.repeat(64 * 1_024 - 100);

describe('copies of large values', () => {
  let fake: FakeRuntime;
  /** What waits for the end of a turn of the event loop; only large values do here. */
  let atEnd: (() => void)[];
  let decoded: number;
  let a: Process;
  watchUnhandled();

  beforeEach(async () => {
    fake = createFakeRuntime();
    atEnd = [];
    decoded = 0;
    const { timers } = fake.runtime;
    const runtime = {
      ...fake.runtime,
      timers: { ...timers, endOfTurn: (fn: () => void) => void atEnd.push(fn) },
    };
    const store = createMemoryStore({ runtime, epochMs: 1_700_000_000_000 });
    a = await Process.open({
      ...{ runtime, warnings: [], advance: fake.advance, close: async () => undefined },
      openStore: async () => store,
    });
  });
  afterEach(async () => {
    await a.close();
    if (fake.pending().foreground > 0) throw new Error('a timer was left armed');
  });

  /** Counts the copies that are made. */
  const serializer = {
    name: 'counting',
    encode: (value: unknown) => Buffer.from(String(value)),
    decode: (bytes: Uint8Array): unknown => ((decoded += 1), Buffer.from(bytes).toString()),
  };
  const get = (policy: AnyPolicy = {}, call?: CallOptions, load: () => unknown = () => 'loaded again') =>
    a.get('k', load, { serializer, ...policy }, call);
  const many = (count: number, policy?: AnyPolicy) => Array.from({ length: count }, () => get(policy));
  const turn = async (): Promise<void> => {
    const those = atEnd;
    atEnd = [];
    for (const fn of those) fn();
    await fake.settle();
  };
  /** How many turns of the event loop it took until nobody waited any more. */
  const turnsUntil = async <T>(all: Promise<T>): Promise<{ turns: number; value: T }> => {
    const made = decoded;
    await fake.settle();
    expect(decoded).toBe(made);
    let turns = 0;
    for (; atEnd.length > 0; turns += 1) {
      const before = decoded;
      await turn();
      expect(decoded - before).toBeLessThanOrEqual(1);
    }
    return { turns, value: await all };
  };
  const store = async (value: string): Promise<void> => {
    await a.set('k', value, { serializer, stale: 60_000 });
    decoded = 0;
  };

  it('are made one in a turn of the event loop, for those who hit', async () => {
    await store(LARGE);
    const { turns, value } = await turnsUntil(Promise.all(many(20)));
    expect(turns).toBe(20);
    expect(decoded).toBe(20);
    expect(value).toEqual(Array.from({ length: 20 }, () => LARGE));
  });

  it('and for those who wait for a load, the first one included', async () => {
    const origin = new Origin();
    const all = Promise.all(
      Array.from({ length: 10 }, () => get({}, undefined, origin.load as () => unknown)),
    );
    await fake.settle();
    await origin.give(LARGE);
    const { turns, value } = await turnsUntil(all);
    expect(turns).toBe(10);
    expect(new Set(value)).toEqual(new Set([LARGE]));
  });

  it('and for those who stand on a stale value', async () => {
    await store(LARGE);
    await a.expire('k');
    const policy = { stale: 0, staleIfError: 60_000 };
    const failing = (): Promise<unknown> => get(policy, undefined, () => Promise.reject(new Error('down')));
    const { turns, value } = await turnsUntil(Promise.all([failing(), failing(), failing()]));
    expect(turns).toBe(3);
    expect(value).toEqual([LARGE, LARGE, LARGE]);
  });

  it('and for those who only look', async () => {
    await store(LARGE);
    const looks = [1, 2, 3].map(() => a.peek('k', { serializer }));
    const { turns, value } = await turnsUntil(Promise.all(looks));
    expect(turns).toBe(3);
    expect(value.map((answer) => answer?.value)).toEqual([LARGE, LARGE, LARGE]);
  });

  it('small ones are made at once', async () => {
    await store(SMALL);
    const all = many(20);
    await fake.settle();
    expect(atEnd).toEqual([]);
    expect(decoded).toBe(20);
    await Promise.all(all);
  });

  it('a shared one is made once, at once', async () => {
    await store(LARGE);
    const all = many(20, { shared: true });
    await fake.settle();
    expect(atEnd).toEqual([]);
    await Promise.all(all);
    expect(decoded).toBe(1);
  });

  it('a caller who aborts is rejected at once, and no copy is made for it', async () => {
    await store(LARGE);
    const controller = new AbortController();
    const all = [...many(3), get({}, { signal: controller.signal }), ...many(3)];
    await fake.settle();
    await turn();
    const left = errorOf(all[3] as Promise<unknown>);
    const reason = new Error('gone');
    controller.abort(reason);
    expect(await left).toBe(reason);
    const { turns } = await turnsUntil(Promise.allSettled(all));
    expect(turns).toBe(5);
    expect(decoded).toBe(6);
  });

  it('so is one who waits for a load', async () => {
    const controller = new AbortController();
    const origin = new Origin();
    const load = origin.load as () => unknown;
    const all = [get({}, undefined, load), get({}, { signal: controller.signal }, load)];
    await fake.settle();
    await origin.give(LARGE);
    await fake.settle();
    const left = errorOf(all[1] as Promise<unknown>);
    controller.abort('gone');
    expect(await left).toBe('gone');
    expect((await turnsUntil(all[0] as Promise<unknown>)).value).toBe(LARGE);
    expect(decoded).toBe(1);
  });

  it('a caller does not wait for its turn beyond its waitTimeout', async () => {
    await store(LARGE);
    const all = many(5, { waitTimeout: 10_000 });
    const hurried = get({ waitTimeout: 100 });
    await fake.advance(99);
    expect(decoded).toBe(0);
    await fake.advance(2);
    expect(decoded).toBe(1);
    expect(await hurried).toBe(LARGE);
    expect((await turnsUntil(Promise.all(all))).turns).toBe(5);
  });

  it('nor is the time that it has waited for the load forgotten', async () => {
    const origin = new Origin();
    const load = origin.load as () => unknown;
    const hurried = get({ waitTimeout: 100 }, undefined, load);
    await fake.advance(90);
    await origin.give(LARGE);
    await fake.settle();
    expect(decoded).toBe(0);
    await fake.advance(11);
    expect(await hurried).toBe(LARGE);
    await turnsUntil(Promise.resolve());
  });

  it('one whose entry expires while it waits goes on as a miss', async () => {
    await a.set('k', LARGE, { serializer, ttl: 1_000 });
    decoded = 0;
    const all = Promise.all(many(2));
    await fake.settle();
    await turn();
    await fake.advance(2_000);
    const { value } = await turnsUntil(all);
    expect(value).toEqual([LARGE, 'loaded again']);
  });

  it('keys take turns', async () => {
    await store(LARGE);
    await a.set('other', LARGE, { serializer });
    const order: string[] = [];
    const all = many(3).map((each) => each.then(() => order.push('k')));
    all.push(a.get('other', () => 'no', { serializer }).then(() => order.push('other')));
    await turnsUntil(Promise.all(all));
    expect(order).toEqual(['k', 'other', 'k', 'k']);
  });
});

/** Counts what is written. */
class Counting extends ForwardingStore {
  readonly written: string[] = [];

  override async commit(
    ...args: Parameters<ForwardingStore['commit']>
  ): ReturnType<ForwardingStore['commit']> {
    this.written.push('commit');
    return super.commit(...args);
  }

  override async touch(...args: Parameters<ForwardingStore['touch']>): ReturnType<ForwardingStore['touch']> {
    this.written.push(`touch ${args[1].head.toString('latin1', 2, 3)}`);
    return super.touch(...args);
  }
}

it('a compressed value that a load keeps stays where it is', async () => {
  const fake = createFakeRuntime();
  const inner = createMemoryStore({ runtime: fake.runtime, epochMs: 1_700_000_000_000 });
  const store = new Counting(new KeptOpen(inner));
  const a = await Process.open({
    ...{ runtime: fake.runtime, warnings: [], advance: fake.advance, close: async () => undefined },
    openStore: async () => store,
  });
  const policy = { compress: true, stale: 60_000 };
  await a.get('k', () => LARGE, policy);
  await a.expire('k');
  await a.get('k', (ctx) => ctx.notModified(), policy);
  await until(() => store.written.length > 1);
  expect(store.written).toEqual(['commit', 'touch b']);
  expect(await a.entry('k', () => 'again', policy)).toMatchObject({ outcome: 'fresh', value: LARGE });
  await a.close();
});
