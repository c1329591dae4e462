import type { Distrust } from '../coherence/index.js';
import { nameOf } from '../coherence/index.js';
import { isSoft, type Change } from '../deferral/index.js';
import { nothing } from '../nothing.js';
import type { Cancel, Runtime } from '../ports.js';

/** Changes remembered at most, one a subject. */
const CAPACITY = 10_000;
/** Tried again together. */
const BATCH = 100;
const FIRST_RETRY = 100;
const LONGEST_RETRY = 5_000;
/** How long the end of the cache waits for them, ms, and how soon it looks again. */
const LAST_WAIT = 500;
const LAST_RETRY = 50;

export interface UnsettledEvents {
  /** A change that had failed was acknowledged in the end. */
  onSettled(change: Change): void;
  /** So many changes were forgotten, as there was no room or no time. */
  onForgotten(count: number): void;
}

/** When a change was asked for: monotonic time, and its place in the order of all. */
export interface Asked {
  readonly since: number;
  readonly order: number;
}

interface Waiting extends Asked {
  readonly change: Change;
}

/**
 * Changes the store did not acknowledge. Until it does, this process distrusts what they concern; they are tried again in
 * the background, the last one of a subject only.
 */
export class Unsettled {
  /** The next to be tried comes first. */
  private readonly waiting = new Map<string, Waiting>();
  private failures = 0;
  private isTrying = false;
  private isClosed = false;
  private cancel: Cancel = nothing;

  constructor(
    private readonly distrust: Distrust,
    private readonly runtime: Runtime,
    private readonly events: UnsettledEvents,
  ) {}

  get size(): number {
    return this.waiting.size;
  }

  add(change: Change, asked: Asked): void {
    const name = nameOf(change.subject);
    const known = this.waiting.get(name);
    // A soft change says less than the one that waits.
    if (known && !isSoft(known.change) && isSoft(change)) return;
    const wanted = change.inItsPlace ?? change;
    // A hold-off that was asked for is not lost by what came after it.
    const kept = known && known.change.holdOffMs > wanted.holdOffMs ? known.change : wanted;
    this.waiting.delete(name);
    this.waiting.set(name, { ...asked, change: kept });
    if (!isSoft(change)) this.distrust.add(change.subject, asked.since);
    this.makeRoom();
    this.schedule();
  }

  /** A change was acknowledged; those of its subject that were asked for before it need no more. */
  settle(change: Change, order: number): void {
    if (this.waiting.size === 0) return;
    const name = nameOf(change.subject);
    const known = this.waiting.get(name);
    if (known === undefined || known.order > order) return;
    if (isSoft(change) && !isSoft(known.change)) return;
    if (!isSoft(change)) this.distrust.remove(change.subject);
    if (known.change.holdOffMs <= change.holdOffMs) this.waiting.delete(name);
  }

  /** The store can be reached again. */
  retryNow(): void {
    this.failures = 0;
    if (this.waiting.size > 0) this.turn();
  }

  /** Goes on trying for a moment, and gives up. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.cancel();
    if (this.waiting.size > 0) await this.lastTries();
    if (this.waiting.size > 0) this.events.onForgotten(this.waiting.size);
    this.waiting.clear();
  }

  private makeRoom(): void {
    if (this.waiting.size <= CAPACITY) return;
    const [oldest] = this.waiting;
    if (oldest === undefined) return;
    const [name, { change, since }] = oldest;
    this.waiting.delete(name);
    if (isSoft(change)) return;
    // Nobody will ever know whether it was made: what was loaded before it is distrusted for good.
    this.distrust.addAllBefore(since);
    this.distrust.remove(change.subject);
    this.events.onForgotten(1);
  }

  private schedule(): void {
    if (this.isClosed || this.isTrying) return;
    this.cancel();
    const { timers, random } = this.runtime;
    const ms = Math.min(FIRST_RETRY * 2 ** this.failures, LONGEST_RETRY) * (0.75 + 0.5 * random.next());
    this.cancel = timers.after(ms, () => this.turn(), true);
  }

  private turn(): void {
    if (this.isClosed || this.isTrying) return;
    this.cancel();
    this.isTrying = true;
    // It can't fail: every change's failure is an outcome. No shutdown waits for it, see `close`.
    void this.tryAll().then(() => {
      this.isTrying = false;
      if (this.waiting.size > 0) this.schedule();
    });
  }

  /** Each once, batch after batch, until one finds the store still ill. */
  private async tryAll(): Promise<void> {
    const all = [...this.waiting];
    for (let at = 0; at < all.length; at += BATCH) {
      const done = await this.tryBatch(all.slice(at, at + BATCH));
      if (done > 0) continue;
      this.failures += 1;
      return;
    }
    if (this.waiting.size === 0) this.failures = 0;
    else this.failures += 1;
  }

  /** How many of them were acknowledged; the others go to the end of the line. */
  private async tryBatch(batch: readonly (readonly [string, Waiting])[]): Promise<number> {
    const results = await Promise.allSettled(batch.map(async ([, { change }]) => change.apply()));
    let done = 0;
    batch.forEach(([name, pending], index) => {
      const isDone = results[index]?.status === 'fulfilled';
      if (isDone) done += 1;
      if (this.waiting.get(name) !== pending) return;
      this.waiting.delete(name);
      if (!isDone) {
        this.waiting.set(name, pending);
        return;
      }
      this.distrust.remove(pending.change.subject);
      this.events.onSettled(pending.change);
    });
    return done;
  }

  /** A connection that breaks with the application's end may be back in a moment. */
  private async lastTries(): Promise<void> {
    const { timers } = this.runtime;
    let isLate = false;
    let stop: Cancel = () => undefined;
    const late = new Promise<void>((resolve) => {
      stop = timers.after(LAST_WAIT, () => {
        isLate = true;
        resolve();
      });
    });
    while (this.waiting.size > 0 && !isLate) {
      await Promise.race([this.tryAll(), late]);
      if (this.waiting.size > 0) await this.pause(late);
    }
    stop();
  }

  private async pause(late: Promise<void>): Promise<void> {
    let stop: Cancel = () => undefined;
    const over = new Promise<void>((resolve) => (stop = this.runtime.timers.after(LAST_RETRY, resolve)));
    await Promise.race([over, late]);
    stop();
  }
}
