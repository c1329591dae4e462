import {
  WorkerProcess,
  type CallArgs,
  type CallName,
  type CallResult,
  type WorkerModule,
} from './worker-process.js';

export { WorkerCallError, type Exit, type WorkerProcess } from './worker-process.js';

export interface WorkersOptions {
  /** Absolute path of the worker module (TypeScript): `join(__dirname, 'loader.worker.ts')`. */
  readonly module: string;
  readonly count: number;
  /** More environment, for all or by index. Each worker also gets WORKER_INDEX. */
  readonly env?: Readonly<Record<string, string>> | ((index: number) => Readonly<Record<string, string>>);
  /** Options of node itself, such as `['--expose-gc']`. */
  readonly execArgv?: readonly string[];
}

/** From the order to the common start, in ms: time for the message to reach every process. */
const COMMON_START_IN = 15;

/**
 * Real processes that run one worker module: each exported function of it can be called from here, typed.
 * `startWorkers<typeof import('./loader.worker.js')>({ module, count: 4 })`. Values travel by structured clone, and come
 * from outside Jest's realm: compare them with toEqual, not toStrictEqual or instanceof. An export named `shutdown` runs
 * when the worker is asked to stop.
 */
export async function startWorkers<M extends WorkerModule>(options: WorkersOptions): Promise<Workers<M>> {
  const { module, count, env = {}, execArgv } = options;
  const list = Array.from({ length: count }, (_, index) => {
    return new WorkerProcess<M>({
      index,
      module,
      execArgv,
      env: typeof env === 'function' ? env(index) : env,
    });
  });
  try {
    await Promise.all(list.map((worker) => worker.started));
  } catch (error) {
    await Promise.all(list.map((worker) => worker.kill()));
    throw error;
  }
  return new Workers(list);
}

export class Workers<M extends WorkerModule> {
  constructor(readonly list: readonly WorkerProcess<M>[]) {}

  get count(): number {
    return this.list.length;
  }

  /** Worker number `index`, from 0. */
  at(index: number): WorkerProcess<M> {
    const worker = this.list[index];
    if (!worker) throw new RangeError(`There are ${this.list.length} workers, no number ${index}`);
    return worker;
  }

  /** Calls one worker. */
  call<N extends CallName<M>>(index: number, name: N, ...args: CallArgs<M, N>): Promise<CallResult<M, N>> {
    return this.at(index).call(name, ...args);
  }

  /** Calls all living workers, which begin at the same instant. Rejects with the first that fails. */
  all<N extends CallName<M>>(name: N, ...args: CallArgs<M, N>): Promise<CallResult<M, N>[]> {
    return this.allWith(name, () => args);
  }

  /** The same, each with its own arguments. */
  async allWith<N extends CallName<M>>(
    name: N,
    argsOf: (index: number) => CallArgs<M, N>,
  ): Promise<CallResult<M, N>[]> {
    const calls = this.list
      .filter((worker) => worker.alive)
      .map((worker) => ({ worker, pending: worker.prepare(name, argsOf(worker.index)) }));
    const results = Promise.all(calls.map(({ pending }) => pending.result));
    await Promise.race([results, Promise.all(calls.map(({ pending }) => pending.ready))]);
    // The monotonic clock is one for all processes of a machine.
    const at = process.hrtime.bigint() + BigInt(COMMON_START_IN * 1e6);
    for (const { worker, pending } of calls) worker.go(pending.id, at);
    return results;
  }

  /** Ends all: each must do so by itself within `timeout` ms and with code 0, those that kill() ended excepted. */
  async stop(timeout = 5_000): Promise<void> {
    const ends = await Promise.allSettled(this.list.map((worker) => worker.stop(timeout)));
    const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('\n'));
  }
}
