import type { CacheOptions } from '../../../lib/core/cache-options.js';
import type { Store } from '../../../lib/core/store.js';
import { until } from '../../support/until.js';
import { Process, type Lab } from './lab.js';

/** One test's fleet. */
export class Subject {
  private readonly processes: Process[] = [];

  constructor(readonly lab: Lab) {}

  async process(options: CacheOptions = {}, wrap?: (store: Store) => Store): Promise<Process> {
    const process = await Process.open(this.lab, { redisTimeout: 2_000, ...options }, wrap);
    this.processes.push(process);
    return process;
  }

  /** Waits until `process` waits for somebody else's lease. */
  async waiting(process: Process, times = 1): Promise<void> {
    const waits = (): number => process.types().filter((type) => type === 'wait.start').length;
    await until(() => waits() >= times, { what: 'the process to wait for a lease' });
  }

  async happened(process: Process, type: string, times = 1): Promise<void> {
    await until(() => process.types().filter((one) => one === type).length >= times, {
      what: `${times} x ${type}`,
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.close()));
    await this.lab.close();
  }
}

/** The error a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`expected a rejection, got ${String(value)}`);
    },
    (error: unknown) => error,
  );
}
