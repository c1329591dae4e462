import { createFakeRuntime } from './fake-runtime.js';

describe('the fake runtime', () => {
  it('runs due timers in order of their time, each at its own time, equal ones as they were created', async () => {
    const { runtime, advance } = createFakeRuntime();
    const start = runtime.clock.now();
    const seen: string[] = [];
    const note = (name: string) => () => seen.push(`${name}@${runtime.clock.now() - start}`);
    runtime.timers.after(30, note('c'));
    runtime.timers.after(10, note('a'));
    runtime.timers.after(10, note('b'));
    runtime.timers.after(31, note('not yet'));

    await advance(30);

    expect(seen).toEqual(['a@10', 'b@10', 'c@30']);
    expect(runtime.clock.now() - start).toBe(30);
  });

  it('runs timers that are created on the way and fall due, at zero milliseconds, too', async () => {
    const { runtime, advance } = createFakeRuntime();
    const seen: number[] = [];
    const start = runtime.clock.now();
    const again = (): void => {
      seen.push(runtime.clock.now() - start);
      if (seen.length < 10) runtime.timers.after(seen.length === 5 ? 0 : 10, again);
    };
    runtime.timers.after(10, again);

    await advance(65);
    expect(seen).toEqual([10, 20, 30, 40, 50, 50, 60]);
  });

  it('lets deep promise chains settle between timers, and before the first one', async () => {
    const { runtime, advance } = createFakeRuntime();
    const seen: string[] = [];
    const deep = async (name: string): Promise<void> => {
      for (let depth = 0; depth < 5_000; depth++) await Promise.resolve();
      await new Promise(setImmediate);
      seen.push(name);
    };
    void deep('started before');
    runtime.timers.after(10, () => void deep('after the first'));
    runtime.timers.after(11, () => seen.push('second'));

    await advance(20);
    expect(seen).toEqual(['started before', 'after the first', 'second']);
  });

  it('does not run what was cancelled, also by the timer before', async () => {
    const { runtime, advance, pending } = createFakeRuntime();
    const seen: string[] = [];
    runtime.timers.after(10, () => cancel());
    const cancel = runtime.timers.after(10, () => seen.push('cancelled'), true);
    expect(pending()).toEqual({ foreground: 1, background: 1 });

    await advance(10);
    cancel();
    expect(seen).toEqual([]);
    expect(pending()).toEqual({ foreground: 0, background: 0 });
  });

  it('runs nothing while it is stalled, and everything overdue afterwards', async () => {
    const { runtime, stall, settle, advance } = createFakeRuntime();
    const seen: number[] = [];
    const start = runtime.clock.now();
    runtime.timers.after(10, () => seen.push(runtime.clock.now() - start));
    stall(50);
    await settle();
    expect(seen).toEqual([]);

    await advance(0);
    expect(seen).toEqual([50]);
  });

  it('runs endOfTick after the microtasks, wherever it was asked for', async () => {
    const { runtime, settle } = createFakeRuntime();
    const order: string[] = [];
    runtime.timers.endOfTick(() => order.push('end'));
    void Promise.resolve()
      .then(() => order.push('1'))
      .then(() => order.push('2'))
      .then(() => order.push('3'));

    await settle();
    expect(order).toEqual(['1', '2', '3', 'end']);
  });

  it('rejects with what a timer threw, and can go on', async () => {
    const { runtime, advance } = createFakeRuntime();
    runtime.timers.after(1, () => {
      throw new Error('a fault in a timer');
    });
    await expect(advance(5)).rejects.toThrow('a fault in a timer');
    await advance(5);
  });

  it('refuses to advance while it advances', async () => {
    const { advance } = createFakeRuntime();
    const first = advance(5);
    await expect(advance(5)).rejects.toThrow('still running');
    await first;
  });

  it('yields the random numbers it is told to, then the last one for ever', () => {
    const { runtime, setRandom } = createFakeRuntime();
    setRandom([0.1, 0.9]);
    expect([1, 2, 3, 4].map(() => runtime.random.next())).toEqual([0.1, 0.9, 0.9, 0.9]);
    setRandom(() => 0.5);
    expect(runtime.random.next()).toBe(0.5);
  });

  it('repeats itself with the same seed and not with another one', () => {
    const draw = (seed: number) => {
      const { runtime } = createFakeRuntime({ seed });
      return [1, 2, 3].map(() => [runtime.random.next(), runtime.random.token()]);
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it('makes tokens of 22 base64url characters that do not repeat', () => {
    const { runtime } = createFakeRuntime({ seed: 123_456_789 });
    const tokens = Array.from({ length: 1_000 }, () => runtime.random.token());
    expect(new Set(tokens).size).toBe(1_000);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{22}$/);
  });

  it('collects what is logged', () => {
    const { runtime, logs } = createFakeRuntime();
    runtime.log.info('up');
    runtime.log.warn('down');
    expect(logs).toEqual([
      { level: 'info', message: 'up' },
      { level: 'warn', message: 'down' },
    ]);
  });
});
