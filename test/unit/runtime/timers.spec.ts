import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../../lib/core/ports.js';
import { createNodeRuntime } from '../../../lib/runtime/index.js';
import { createTimers } from '../../../lib/runtime/timers.js';
import { deferred } from '../../support/deferred.js';

const clock: Clock = { now: () => performance.now() };
const LONGEST_DELAY = 2 ** 31 - 1;

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));
const elapsed = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
const keepingAlive = (kind: string) =>
  process.getActiveResourcesInfo().filter((name) => name === kind).length;

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('timers.after', () => {
  const timers = createTimers(clock);

  it.each([0, 1, 7, 12.5, 30])('runs once, and not before %s ms have passed by the clock', async (ms) => {
    const fired = deferred<number>();
    let runs = 0;
    const due = clock.now() + ms;
    timers.after(ms, () => {
      runs++;
      fired.resolve(clock.now());
    });

    expect(await fired.promise).toBeGreaterThanOrEqual(due);
    await turn();
    expect(runs).toBe(1);
  });

  it('waits on when the system fires too early', async () => {
    // Half as fast as the timers believe.
    const start = performance.now();
    const slow: Clock = { now: () => (performance.now() - start) / 2 };
    const fired = deferred<number>();
    createTimers(slow).after(20, () => fired.resolve(slow.now()));

    expect(await fired.promise).toBeGreaterThanOrEqual(20);
  });

  it('reaches a time that lies beyond the longest delay in steps', async () => {
    const fired = deferred<number>();
    const due = clock.now() + 20;
    createTimers(clock, 3).after(20, () => fired.resolve(clock.now()));

    expect(await fired.promise).toBeGreaterThanOrEqual(due);
  });

  it.each([LONGEST_DELAY + 1, 1e15, Infinity])('does not fire at once for %s ms', async (ms) => {
    let fired = false;
    const cancel = timers.after(ms, () => (fired = true));
    await elapsed(10);
    await turn();
    cancel();

    expect(fired).toBe(false);
  });

  it('judges a deadline only after replies that wait in a socket', async () => {
    const { near, far, close } = await connectedPair();
    const order: string[] = [];
    const [reply, plain, deadline] = [deferred(), deferred(), deferred()];
    near.on('data', () => {
      order.push('reply');
      reply.resolve();
    });

    await turn();
    far.write('+OK');
    setTimeout(() => {
      order.push('a plain timeout');
      plain.resolve();
    }, 1);
    timers.after(1, () => {
      order.push('the deadline');
      deadline.resolve();
    });
    block(30);
    await Promise.all([reply.promise, plain.promise, deadline.promise]);
    await close();

    expect(order).toEqual(['a plain timeout', 'reply', 'the deadline']);
  });

  it('is cancelled while it waits', async () => {
    let fired = false;
    const cancel = timers.after(5, () => (fired = true));
    cancel();
    cancel();
    await elapsed(15);
    await turn();

    expect(fired).toBe(false);
  });

  it('is cancelled between its time and its run', async () => {
    const armed = deferred();
    let fired = false;
    // The clock is read when the delay is over, right before the last phase.
    let reads = 0;
    const watched: Clock = {
      now: () => {
        if (++reads === 2) armed.resolve();
        return reads === 1 ? 0 : 1_000;
      },
    };
    const cancel = createTimers(watched).after(1, () => (fired = true));
    // Microtasks run before the phase that follows.
    await armed.promise;
    cancel();
    await turn();
    await turn();

    expect(fired).toBe(false);
  });

  it('may be cancelled after its run', async () => {
    const fired = deferred();
    const cancel = timers.after(1, () => fired.resolve());
    await fired.promise;
    cancel();
  });

  it('keeps the process alive only in the foreground', () => {
    const before = keepingAlive('Timeout');
    const background = timers.after(10_000, () => {}, true);
    expect(keepingAlive('Timeout')).toBe(before);

    const foreground = timers.after(10_000, () => {});
    expect(keepingAlive('Timeout')).toBe(before + 1);
    foreground();
    background();
    expect(keepingAlive('Timeout')).toBe(before);
  });

  it('fires a background timer on time in a process that does nothing else', () => {
    // Node does not wake an idle loop for an immediate without a reference.
    const script = `
      const { createNodeRuntime } = require('./lib/runtime/index.ts');
      const { timers } = createNodeRuntime({ log: console });
      const alive = setTimeout(() => undefined, 5000);
      const started = performance.now();
      timers.after(20, () => {
        clearTimeout(alive);
        process.exitCode = performance.now() - started < 2500 ? 0 : 1;
      }, true);
    `;
    const run = spawnSync(process.execPath, ['-r', './test/support/register-swc.cjs', '-e', script], {
      cwd: join(__dirname, '../../..'),
    });

    expect(run.stderr.toString()).toBe('');
    expect(run.status).toBe(0);
  });
});

describe('timers.endOfTick', () => {
  const { timers } = createNodeRuntime({ log: { info() {}, warn() {} } });

  const orderFrom = async (start: (begin: () => void) => void): Promise<string[]> => {
    const order: string[] = [];
    const done = deferred();
    start(() => {
      timers.endOfTick(() => {
        order.push('end of tick');
        done.resolve();
      });
      void Promise.resolve()
        .then(() => order.push('microtask 1'))
        .then(() => order.push('microtask 2'))
        .then(() => order.push('microtask 3'));
      setImmediate(() => order.push('the next phase'));
    });
    await done.promise;
    return order;
  };

  it.each<[string, (begin: () => void) => void]>([
    ['a microtask', (begin) => void Promise.resolve().then(begin)],
    ['an immediate', (begin) => void setImmediate(begin)],
    ['a timer', (begin) => void setTimeout(begin, 1)],
    ['a tick', (begin) => process.nextTick(begin)],
  ])('runs after the microtasks and before anything else, when asked for in %s', async (_where, start) => {
    expect(await orderFrom(start)).toEqual(['microtask 1', 'microtask 2', 'microtask 3', 'end of tick']);
  });

  it('runs even under fake timers of a test suite', async () => {
    jest.useFakeTimers();
    try {
      const done = deferred();
      timers.endOfTick(() => done.resolve());
      const fired = deferred();
      timers.after(1, () => fired.resolve());
      await done.promise;
      await fired.promise;
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('the clock of the runtime', () => {
  it('is monotonic and goes at the speed of time', async () => {
    const { clock: real } = createNodeRuntime({ log: { info() {}, warn() {} } });
    const before = performance.now();
    const read = real.now();
    const after = performance.now();

    expect(read).toBeGreaterThanOrEqual(before);
    expect(read).toBeLessThanOrEqual(after);
  });
});

async function connectedPair(): Promise<{ near: Socket; far: Socket; close: () => Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is an object.
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[far]] = (await Promise.all([once(server, 'connection'), once(near, 'connect')])) as [
    [Socket],
    unknown,
  ];
  const close = async (): Promise<void> => {
    near.destroy();
    far.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { near, far, close };
}
