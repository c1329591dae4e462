import { AbortWatch } from '../../../lib/core/abort-watch.js';
import { Turns } from '../../../lib/core/turns.js';
import { createNodeRuntime } from '../../../lib/runtime/index.js';
import { createFakeRuntime, type FakeRuntime } from '../../support/fake-runtime.js';

const NOTHING = { size: 100 };

describe('turns', () => {
  let fake: FakeRuntime;
  /** What was asked to run at the end of a turn of the event loop: the test says when. */
  let atEnd: (() => void)[];
  let turns: Turns;
  let order: string[];
  beforeEach(() => {
    fake = createFakeRuntime();
    atEnd = [];
    order = [];
    turns = new Turns(
      { ...fake.runtime.timers, endOfTurn: (fn) => void atEnd.push(fn) },
      new AbortWatch(),
      1_000,
    );
  });
  afterEach(() => {
    const { foreground, background } = fake.pending();
    if (foreground + background > 0) throw new Error('a timer was left armed');
  });

  /** Waits, and writes down that it has. */
  const wait = (
    who: string,
    { place = 'k', content = NOTHING, ms = 60_000, signal = undefined as AbortSignal | undefined } = {},
  ): Promise<void> | undefined => turns.wait(place, content, ms, signal)?.then(() => void order.push(who));

  const turn = async (): Promise<void> => {
    const those = atEnd;
    atEnd = [];
    for (const fn of those) fn();
    await fake.settle();
  };
  const untilIdle = async (): Promise<number> => {
    let count = 0;
    for (; atEnd.length > 0; count += 1) await turn();
    return count;
  };

  it('come one by one, in the order of the callers', async () => {
    for (const who of ['a', 'b', 'c']) void wait(who);
    await fake.settle();
    expect(order).toEqual([]);
    await turn();
    expect(order).toEqual(['a']);
    void wait('d');
    expect(atEnd).toHaveLength(1);
    expect(await untilIdle()).toBe(3);
    expect(order).toEqual(['a', 'b', 'c', 'd']);
  });

  it('go from key to key', async () => {
    for (const who of ['a1', 'a2', 'a3']) void wait(who, { place: 'a' });
    for (const who of ['b1', 'b2']) void wait(who, { place: 'b' });
    void wait('c1', { place: 'c' });
    await untilIdle();
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('a caller who aborts leaves at once, and costs nobody a turn', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    void wait('a');
    const left = wait('b', { signal: controller.signal });
    void wait('c');
    controller.abort(reason);
    await expect(left).rejects.toBe(reason);
    expect(await untilIdle()).toBe(2);
    expect(order).toEqual(['a', 'c']);
  });

  it('one whose signal has aborted before rejects', async () => {
    await expect(wait('a', { signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
    await untilIdle();
    expect(order).toEqual([]);
  });

  it('one who has waited long enough goes on without a turn', async () => {
    void wait('a');
    void wait('b', { ms: 50 });
    void wait('c', { ms: 5_000 });
    await fake.advance(50);
    expect(order).toEqual(['b']);
    expect(await untilIdle()).toBe(2);
    expect(order).toEqual(['b', 'a', 'c']);
  });

  it.each([0, -5])('with %i ms there is nothing to wait for', (ms) => {
    expect(wait('a', { ms })).toBeUndefined();
    expect(atEnd).toEqual([]);
  });

  it('beyond what may lie waiting nobody waits any more', async () => {
    const [one, two] = [{ size: 600 }, { size: 600 }];
    void wait('a', { content: one });
    // The same content is held once.
    for (const who of ['b', 'c', 'd']) void wait(who, { content: one });
    expect(wait('e', { content: two })).toBeUndefined();
    await turn();
    expect(wait('f', { content: two })).toBeUndefined();
    await untilIdle();
    expect(order).toEqual(['a', 'b', 'c', 'd']);
    void wait('g', { content: two });
    await untilIdle();
    expect(order.at(-1)).toBe('g');
  });

  it('what is larger than all that may lie waiting waits when it is alone', async () => {
    void wait('a', { content: { size: 5_000 } });
    expect(wait('b')).toBeUndefined();
    await untilIdle();
    expect(order).toEqual(['a']);
  });
});

it('in Node.js each turn is a macrotask of its own, with timers and I/O in between', async () => {
  const runtime = createNodeRuntime({ log: { info: () => undefined, warn: () => undefined } });
  const turns = new Turns(runtime.timers, new AbortWatch());
  const seen: string[] = [];
  const others = setInterval(() => seen.push('timer'), 0);
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      await turns.wait('k', NOTHING, 60_000, undefined);
      seen.push('turn');
      const until = performance.now() + 5;
      while (performance.now() < until);
    }),
  );
  clearInterval(others);
  const pairs = seen.slice(1).filter((what, index) => what === 'turn' && seen[index] === 'turn');
  expect(seen.filter((what) => what === 'turn')).toHaveLength(10);
  expect(pairs).toEqual([]);
});
