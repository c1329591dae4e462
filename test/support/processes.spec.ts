import { join } from 'node:path';
import { startWorkers, WorkerCallError, type Workers } from './processes.js';
import { until } from './until.js';

type Example = typeof import('./example.worker.js');

describe('startWorkers', () => {
  let workers: Workers<Example>;

  const start = async (count: number) => {
    workers = await startWorkers<Example>({
      module: join(__dirname, 'example.worker.ts'),
      count,
      env: (index) => ({ GREETING: `hello ${index}` }),
    });
  };

  afterEach(async () => {
    await Promise.all(workers.list.map((worker) => worker.kill()));
  });

  it('calls functions in processes of their own', async () => {
    await start(2);
    await expect(workers.call(1, 'add', 2, 3)).resolves.toBe(5);
    await expect(workers.all('index')).resolves.toEqual(['0', '1']);
    await expect(workers.all('greeting')).resolves.toEqual(['hello 0', 'hello 1']);
    expect(new Set([process.pid, ...workers.list.map((worker) => worker.pid)]).size).toBe(3);

    const dates = new Map([['launch', new Date(0)]]);
    await expect(workers.call(0, 'sameType', dates)).resolves.toEqual(dates);
  });

  it('hands over what a function threw', async () => {
    await start(1);
    const error = await workers.call(0, 'fail').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WorkerCallError);
    expect(error).toMatchObject({
      remoteName: 'TypeError',
      remoteMessage: 'no such product',
      code: 'E_NO_PRODUCT',
    });
    // Source maps: the line of the TypeScript file, not of what swc made of it.
    expect(String(error)).toMatch(/example\.worker\.ts:\d+/);
  });

  it('rejects what was under way when a worker is killed, with its stderr', async () => {
    await start(2);
    const failure = workers.call(0, 'waitForever').catch((reason: unknown) => String(reason));
    await until(() => workers.at(0).stderr.includes('waiting'));
    await expect(workers.at(0).kill()).resolves.toEqual({ code: null, signal: 'SIGKILL' });
    expect(await failure).toMatch(/worker 0 .* ended with SIGKILL during .*\nwaiting/s);
    await expect(workers.call(0, 'add', 1, 1)).rejects.toThrow(/ended with SIGKILL before/);
    await expect(workers.all('add', 1, 1)).resolves.toEqual([2]);
    await workers.stop();
  });

  it('lets every worker run its shutdown and end by itself', async () => {
    await start(2);
    await workers.stop();
    expect(workers.list.map((worker) => worker.stderr)).toEqual(['shutdown\n', 'shutdown\n']);
    await expect(workers.at(0).exited).resolves.toEqual({ code: 0, signal: null });
  });

  it('reports a worker that something keeps alive, and one that ended on its own', async () => {
    await start(2);
    await workers.call(0, 'leak');
    await expect(workers.call(1, 'exit', 3)).rejects.toThrow(/ended with 3 during .*the end/s);
    await expect(workers.stop(300)).rejects.toThrow(
      /worker 0 .* did not end within 300 ms.*worker 1 .* ended with 3/s,
    );
  });

  it('reports a worker module that does not load', async () => {
    await expect(startWorkers({ module: join(__dirname, 'no-such.worker.ts'), count: 1 })).rejects.toThrow(
      /before it started; its stderr:.*no-such\.worker/s,
    );
  });
});
