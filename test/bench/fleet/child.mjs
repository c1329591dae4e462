import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('../worker/main.mjs', import.meta.url));
const STOP_MS = 1_500;

/** A forked process with one configuration, and the calls to it that have no answer yet. */
export class Child {
  #calls = new Map();
  #number = 0;

  constructor(name, { url, namespace, timeoutMs }) {
    this.name = name;
    const stderr = process.env.BENCH_DEBUG ? 'inherit' : 'ignore';
    this.process = fork(WORKER, [name, url, namespace, String(timeoutMs ?? 0)], {
      serialization: 'advanced',
      env: { ...process.env, NODE_ENV: 'production' },
      stdio: ['ignore', stderr, stderr, 'ipc'],
    });
    this.ready = new Promise((resolve, reject) => {
      this.process.on('message', (message) => (message.ready ? resolve(this) : this.#settle(message)));
      this.process.once('exit', (code, signal) => {
        const gone = new Error(`${name}: its process ended with ${code ?? signal}`);
        reject(gone);
        for (const call of this.#calls.values()) call.reject(gone);
        this.#calls.clear();
      });
    });
    // Whoever waits for it is told.
    this.ready.catch(() => undefined);
  }

  get gone() {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  call(command, args) {
    return new Promise((resolve, reject) => {
      const id = ++this.#number;
      this.#calls.set(id, { resolve, reject });
      this.process.send({ id, command, args });
    });
  }

  kill() {
    this.process.kill('SIGKILL');
  }

  async stop() {
    if (this.gone) return;
    const gone = once(this.process, 'exit');
    this.process.send({ command: 'exit' });
    const timer = setTimeout(() => this.kill(), STOP_MS);
    await gone;
    clearTimeout(timer);
  }

  #settle({ id, result, error }) {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error === undefined) call.resolve(result);
    else call.reject(new Error(`${this.name}: ${error}`));
  }
}
