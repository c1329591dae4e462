import type { Advice } from '../advice.js';
import type { Counters } from '../events/index.js';
import type { EntryKey } from '../keys/index.js';
import type { Runtime } from '../ports.js';
import type { AcquireReply, AcquireRequest, ReleaseRequest, Store } from '../store.js';
import { StoreFailure } from './store-failure.js';

/** How long the store may take, ms. */
export interface StoreBudgets {
  /** The read and the acquire of one call, together. */
  readonly read: number;
  /** One write off the request path. */
  readonly write: number;
}

/** What is left of a call's time for the store. Waiting for slots or loads does not use it up. */
export interface Budget {
  left: number;
}

/**
 * The store behind deadlines of our own: no client's options decide how long a call waits. Every failure comes out as
 * {@link StoreFailure}.
 */
export class StoreGate {
  constructor(
    readonly store: Store,
    private readonly runtime: Runtime,
    private readonly budgets: StoreBudgets,
    private readonly counters: Counters,
    private readonly advice: Advice,
  ) {}

  get writeBudget(): number {
    return this.budgets.write;
  }

  budget(): Budget {
    return { left: this.budgets.read };
  }

  async read(key: EntryKey, budget: Budget): Promise<Buffer | null> {
    return this.spend(budget, 'read', () => this.store.read(key));
  }

  /** A lease granted too late is given back at once, never adopted. */
  async acquire(key: EntryKey, request: AcquireRequest, budget: Budget): Promise<AcquireReply> {
    let late = false;
    let sent = false;
    const giveBack = (): void => this.forget(this.release(key, { token: request.token, outcome: '' }));
    const asked = (): Promise<AcquireReply> => {
      sent = true;
      const reply = this.store.acquire(key, request);
      reply.then(
        (answer) => {
          if (late && answer.code === 'owner') giveBack();
        },
        () => undefined,
      );
      return reply;
    };
    try {
      return await this.spend(budget, 'acquire', asked);
    } catch (error) {
      late = true;
      // An error leaves open whether the lease was granted.
      if (sent && request.mode !== 'probe') giveBack();
      throw error;
    }
  }

  async release(key: EntryKey, request: ReleaseRequest): Promise<boolean> {
    return this.write('release', () => this.store.release(key, request));
  }

  /** Any other operation, within the write budget. */
  async write<T>(what: string, operation: () => Promise<T>): Promise<T> {
    return this.within(this.budgets.write, what, operation);
  }

  /** Owns a promise whose failure changes nothing: the store's own expiry repairs it. */
  forget(promise: Promise<unknown>): void {
    promise.catch(() => undefined);
  }

  private async spend<T>(budget: Budget, what: string, operation: () => Promise<T>): Promise<T> {
    const started = this.runtime.clock.now();
    const left = (): number => budget.left - (this.runtime.clock.now() - started);
    try {
      const reply = await this.within(budget.left, what, operation);
      // Much of the time may have been our own event loop's: a store that answered keeps half of the budget.
      budget.left = Math.max(left(), this.budgets.read / 2);
      return reply;
    } catch (error) {
      budget.left = left();
      throw error;
    }
  }

  private within<T>(ms: number, what: string, operation: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const fail = (cause?: unknown): void => {
        this.counters.storeFailures += 1;
        // A lost connection is reported as such; silence would not be.
        if (cause === undefined) this.advice.sometimes('store', () => silence(what, ms));
        reject(new StoreFailure(`The store failed to ${what}`, cause));
      };
      if (ms <= 0) {
        fail();
        return;
      }
      const stop = this.runtime.timers.after(ms, () => fail());
      operation().then(
        (value) => {
          stop();
          resolve(value);
        },
        (error: unknown) => {
          stop();
          fail(error);
        },
      );
    });
  }
}

function silence(what: string, ms: number): string {
  return `The store did not answer within ${Math.round(ms)} ms (to ${what}): calls go on without it. Said once a minute.`;
}
