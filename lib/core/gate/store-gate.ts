import type { Advice } from '../advice.js';
import type { Counters } from '../events/index.js';
import type { EntryKey } from '../keys/index.js';
import { nothing } from '../nothing.js';
import type { Runtime } from '../ports.js';
import type { AcquireReply, AcquireRequest, ReleaseRequest, Store, Target } from '../store.js';
import { illnessOf, isAnswer } from './illness.js';
import { bytesIn } from './bytes-in.js';
import { Refusing } from './refusing.js';
import { StoreFailure } from './store-failure.js';
import { StoreHealth, type HealthEvents } from './store-health.js';

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

/** An answer of so many bytes may be late on a link that is well. */
const BIG = 64 * 1024;

type Resolve<T> = (reply: T) => void;
type Reject = (error: Error) => void;

/** One operation: what it does, for messages, and on what. */
interface Operation<T> {
  readonly what: string;
  readonly target: Target;
  /** The breakers do not hold it back. */
  readonly always?: boolean;
  readonly run: () => Promise<T>;
}

/** How an operation may end. */
interface Ends<T> {
  answered(): void;
  /** Its time was over. */
  late(reply: T): void;
  lateFailure(error: unknown): void;
  /** Makes of a failure what the caller gets; undefined: no answer came in time. */
  failed(cause: unknown): Error;
}

/**
 * The store behind deadlines and breakers of our own: no client's options decide how long a call waits, and a store that is
 * known to be ill is not waited for. Every failure comes out as {@link StoreFailure}.
 */
export class StoreGate {
  private readonly health: StoreHealth;
  /** Of operations that were not tried. In an outage they are thousands a second, and a stack tells nothing. */
  private readonly notTried = new Map<string, StoreFailure>();
  private readonly refusing: Refusing;

  constructor(
    readonly store: Store,
    private readonly runtime: Runtime,
    private readonly budgets: StoreBudgets,
    private readonly counters: Counters,
    advice: Advice,
    events: HealthEvents,
  ) {
    this.refusing = new Refusing(runtime.timers);
    this.health = new StoreHealth(store, runtime, advice, events, (run) => this.probe(run));
  }

  get writeBudget(): number {
    return this.budgets.write;
  }

  budget(): Budget {
    return { left: this.budgets.read };
  }

  /** The failure that a question about this would have for now, without asking. Undefined: it may be asked. */
  unreachable(target: Target): StoreFailure | undefined {
    const why = this.health.unreachable(target);
    return why === undefined ? undefined : this.untried('be reached', why);
  }

  /** The store was connected anew. */
  renewed(): void {
    this.health.reset();
  }

  close(): void {
    this.health.close();
    this.refusing.close();
  }

  /** What is at a key. By callbacks: every hit comes this way, and each promise on it costs all of them. */
  read(key: EntryKey, budget: Budget, found: Resolve<Buffer | null>, failed: Reject): void {
    const operation = { what: 'read', target: key, run: () => this.store.read(key) };
    this.spendOn(budget, operation, found, failed);
  }

  /** The same of several keys in one command, for callers whose budgets are all this one. */
  readMany(
    keys: readonly [EntryKey, ...EntryKey[]],
    budget: Budget,
    found: Resolve<readonly (Buffer | null)[]>,
    failed: Reject,
    /** Hears of what was read also when it comes too late. */
    seen: Resolve<readonly (Buffer | null)[]>,
  ): void {
    this.spendOn(
      budget,
      { what: 'read', target: keys[0], run: () => readAll(this.store, keys, seen) },
      found,
      failed,
    );
  }

  /** Whether several keys can be read in one command. */
  get canReadMany(): boolean {
    return this.store.readMany !== undefined;
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
      return await this.spend(budget, 'acquire', key, asked);
    } catch (error) {
      late = true;
      // An error leaves open whether the lease was granted.
      if (sent && request.mode !== 'probe') giveBack();
      throw error;
    }
  }

  async release(key: EntryKey, request: ReleaseRequest): Promise<boolean> {
    return this.write('release', key, () => this.store.release(key, request));
  }

  /** Any other operation off the request path, within the write budget. */
  async write<T>(what: string, target: Target, run: () => Promise<T>): Promise<T> {
    return this.within(this.budgets.write, { what, target, run });
  }

  /** A change that was asked for: tried also while the store is known to be ill, since only its answer counts. */
  async change<T>(what: string, target: Target, run: () => Promise<T>): Promise<T> {
    return this.within(this.budgets.write, { what, target, run, always: true });
  }

  /** Owns a promise whose failure changes nothing: the store's own expiry repairs it. */
  forget(promise: Promise<unknown>): void {
    promise.catch(() => undefined);
  }

  /** Any other question of a call, within what is left of its budget. */
  spend<T>(budget: Budget, what: string, target: Target, run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => this.spendOn(budget, { what, target, run }, resolve, reject));
  }

  private spendOn<T>(budget: Budget, operation: Operation<T>, resolve: Resolve<T>, reject: Reject): void {
    const { clock } = this.runtime;
    const started = clock.now();
    this.attempt(
      budget.left,
      operation,
      (reply) => {
        // Much of the time may have been our own event loop's: a store that answered keeps half of the budget.
        budget.left = Math.max(budget.left - (clock.now() - started), this.budgets.read / 2);
        resolve(reply);
      },
      (error) => {
        budget.left -= clock.now() - started;
        reject(error);
      },
    );
  }

  private probe(run: () => Promise<void>): Promise<void> {
    const answered = (): Promise<void> =>
      run().catch((error: unknown) => {
        // A refusal is an answer.
        if (!isAnswer(error)) throw error;
      });
    const ends = {
      answered: nothing,
      late: nothing,
      lateFailure: nothing,
      failed: () => new Error('no answer to the probe'),
    };
    return new Promise((resolve, reject) => {
      this.inTime(this.budgets.read, answered, ends, resolve, reject);
    });
  }

  private within<T>(ms: number, operation: Operation<T>): Promise<T> {
    return new Promise((resolve, reject) => this.attempt(ms, operation, resolve, reject));
  }

  private attempt<T>(ms: number, operation: Operation<T>, resolve: Resolve<T>, reject: Reject): void {
    const { what, target, run, always } = operation;
    const { health } = this;
    const barrier = always === true ? health.congestion() : health.barrier(what, target);
    // Time that was used up elsewhere says nothing about the store.
    if (barrier !== undefined) return this.refusing.reject(this.untried(what, barrier), reject);
    if (ms <= 0) return reject(this.untried(what, 'no time is left'));
    const ends: Ends<T> = {
      answered: () => health.succeeded(what, target),
      // A big value takes long on a link that is well.
      late: (reply) => {
        if (bytesIn(reply) >= BIG) health.excuse(target);
      },
      lateFailure: (error) => {
        if (illnessOf(error).kind === 'silent') health.giveUp(target);
      },
      failed: (cause) => {
        health.failed(what, target, cause);
        return this.failure(what, cause);
      },
    };
    this.inTime(ms, run, ends, resolve, reject);
  }

  /** The same for all who hear it. */
  private untried(what: string, barrier: string): StoreFailure {
    const known = this.notTried.get(what);
    if (known?.cause === barrier) {
      this.counters.storeFailures += 1;
      return known;
    }
    const failure = this.failure(what, barrier);
    this.notTried.set(what, failure);
    return failure;
  }

  private failure(what: string, cause: unknown): StoreFailure {
    this.counters.storeFailures += 1;
    return new StoreFailure(`The store failed to ${what}`, cause);
  }

  private inTime<T>(
    ms: number,
    run: () => Promise<T>,
    ends: Ends<T>,
    resolve: Resolve<T>,
    reject: Reject,
  ): void {
    let pay: (() => void) | undefined;
    const stop = this.runtime.timers.after(ms, () => {
      pay = this.health.owe();
      reject(ends.failed(undefined));
    });
    run().then(
      (reply) => {
        if (pay) {
          pay();
          ends.late(reply);
          return;
        }
        stop();
        ends.answered();
        resolve(reply);
      },
      (error: unknown) => {
        if (pay) {
          pay();
          ends.lateFailure(error);
          return;
        }
        stop();
        this.refusing.reject(ends.failed(error), reject);
      },
    );
  }
}

function readAll(
  store: Store,
  keys: readonly EntryKey[],
  seen: Resolve<readonly (Buffer | null)[]>,
): Promise<readonly (Buffer | null)[]> {
  const reading = store.readMany?.(keys) ?? Promise.all(keys.map((key) => store.read(key)));
  reading.then(seen, () => undefined);
  return reading;
}
