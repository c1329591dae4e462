import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { FromWorker, RemoteError, ToWorker } from './worker-protocol.js';

/** What a worker module exports: every function is one that the parent may call. */
export type WorkerModule = object;

type Functions<M> = {
  [K in keyof M as M[K] extends (...args: never[]) => unknown ? K & string : never]: M[K];
};
export type CallName<M> = keyof Functions<M> & string;
type Fn<M, N extends CallName<M>> = Extract<Functions<M>[N], (...args: never[]) => unknown>;
export type CallArgs<M, N extends CallName<M>> = Parameters<Fn<M, N>>;
export type CallResult<M, N extends CallName<M>> = Awaited<ReturnType<Fn<M, N>>>;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** An error that a worker's function threw, in the parent. `code` is the original's. */
export class WorkerCallError extends Error {
  override readonly name = 'WorkerCallError';
  readonly remoteName: string;
  readonly remoteMessage: string;
  readonly code: unknown;

  constructor(call: string, remote: RemoteError) {
    super(`${call}: ${remote.name}: ${remote.message}\n--- in the worker\n${remote.stack ?? ''}`);
    this.remoteName = remote.name;
    this.remoteMessage = remote.message;
    this.code = remote.code;
  }
}

/** An order to a worker: a promise, and the worker's word that it is ready when it was only to be prepared. */
export interface PendingCall<T> {
  readonly id: number;
  readonly ready: Promise<void>;
  readonly result: Promise<T>;
}

interface Waiter {
  readonly call: string;
  readonly ready: () => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface WorkerProcessOptions {
  readonly index: number;
  readonly module: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly execArgv?: readonly string[];
}

/** One forked process that runs a worker module. Tests get them from startWorkers(). */
export class WorkerProcess<M extends WorkerModule> {
  readonly exited: Promise<Exit>;
  readonly started: Promise<void>;
  private readonly child: ChildProcess;
  private readonly waiters = new Map<number, Waiter>();
  private output = '';
  private errors = '';
  private nextId = 1;
  private exit?: Exit;

  constructor(private readonly options: WorkerProcessOptions) {
    this.child = fork(join(__dirname, 'worker-host.cjs'), [options.module], {
      execArgv: ['--enable-source-maps', ...(options.execArgv ?? [])],
      env: { ...process.env, ...options.env, WORKER_INDEX: String(options.index) },
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.child.stdout?.on('data', (bytes: Buffer) => (this.output += bytes.toString()));
    this.child.stderr?.on('data', (bytes: Buffer) => (this.errors += bytes.toString()));
    // 'close', not 'exit': by then its last words have been read.
    this.exited = new Promise((resolve) => {
      this.child.once('close', (code, signal) => resolve({ code, signal }));
    });
    this.started = new Promise((resolve, reject) => {
      this.child.on('message', (message: FromWorker) => {
        if (message.type === 'started') resolve();
        else this.receive(message);
      });
      this.child.once('error', reject);
      void this.exited.then((exit) => reject(this.gone(exit, 'before it started')));
    });
    void this.exited.then((exit) => this.abandon(exit));
  }

  get index(): number {
    return this.options.index;
  }

  get pid(): number {
    const { pid } = this.child;
    if (pid === undefined) throw new Error(`${this.label} could not be forked`);
    return pid;
  }

  get alive(): boolean {
    return this.exit === undefined;
  }

  get stdout(): string {
    return this.output;
  }

  get stderr(): string {
    return this.errors;
  }

  /** Runs an exported function of the worker module. Arguments and result travel by structured clone. */
  call<N extends CallName<M>>(name: N, ...args: CallArgs<M, N>): Promise<CallResult<M, N>> {
    return this.request<CallResult<M, N>>('call', name, args).result;
  }

  /** First half of a common start, see Workers.all(): the worker has the call and waits for go(). */
  prepare<N extends CallName<M>>(name: N, args: CallArgs<M, N>): PendingCall<CallResult<M, N>> {
    return this.request<CallResult<M, N>>('prepare', name, args);
  }

  go(id: number, at: bigint): void {
    this.post({ type: 'go', id, at });
  }

  /** SIGSTOP, SIGCONT or whatever does not end it; kill() waits for the end. */
  signal(signal: NodeJS.Signals): void {
    if (!this.child.kill(signal)) throw new Error(`${this.label} does not run: no ${signal}`);
  }

  /** Ends it by a signal and waits until it is gone. Calls under way reject. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Exit> {
    this.child.kill(signal);
    if (signal !== 'SIGKILL') this.child.kill('SIGCONT'); // a stopped process would keep the signal for later
    return this.exited;
  }

  /**
   * Asks it to end by itself (its `shutdown` export runs first). One that does not, or that ends with another code
   * than 0, is an error; so is one that was already gone, unless kill() ended it.
   */
  async stop(timeout: number): Promise<void> {
    if (this.child.signalCode) return;
    if (this.child.connected) this.post({ type: 'stop' });
    const timer = setTimeout(() => this.child.kill('SIGKILL'), timeout);
    const { code, signal } = await this.exited;
    clearTimeout(timer);
    if (code === 0) return;
    const what =
      signal === 'SIGKILL' ? `did not end within ${timeout} ms of being asked to` : `ended with ${code}`;
    throw new Error(`${this.label} ${what}${this.lastWords}`);
  }

  private request<T>(type: 'call' | 'prepare', name: string, args: readonly unknown[]): PendingCall<T> {
    const id = this.nextId++;
    let ready!: () => void;
    const isReady = new Promise<void>((resolve) => (ready = resolve));
    const result = new Promise<T>((resolve, reject) => {
      const call = `${this.label}.${name}()`;
      if (this.exit) return reject(this.gone(this.exit, `before ${call}`));
      // The handler's result, by the types of the worker module.
      this.waiters.set(id, { call, ready, resolve: resolve as (value: unknown) => void, reject });
      this.post({ type, id, name, args });
    });
    return { id, ready: isReady, result };
  }

  private post(message: ToWorker): void {
    // An error here means that it is gone: its exit rejects what waits for it.
    this.child.send(message, () => undefined);
  }

  private receive(message: Exclude<FromWorker, { type: 'started' }>): void {
    const waiter = this.waiters.get(message.id);
    if (!waiter) return;
    if (message.type === 'prepared') return waiter.ready();
    this.waiters.delete(message.id);
    if (message.type === 'result') waiter.resolve(message.value);
    else waiter.reject(new WorkerCallError(waiter.call, message.error));
  }

  private abandon(exit: Exit): void {
    this.exit = exit;
    for (const waiter of this.waiters.values()) {
      waiter.ready();
      waiter.reject(this.gone(exit, `during ${waiter.call}`));
    }
    this.waiters.clear();
  }

  private gone({ code, signal }: Exit, when: string): Error {
    return new Error(`${this.label} ended with ${signal ?? code} ${when}${this.lastWords}`);
  }

  private get lastWords(): string {
    return this.errors ? `; its stderr:\n${this.errors.slice(-4_096)}` : '';
  }

  private get label(): string {
    return `worker ${this.options.index} (pid ${this.child.pid ?? 'none'})`;
  }
}
