import { LoadRejectedError } from '../errors.js';
import type { Runtime } from '../ports.js';
import { Breaker, type BreakerState, type Permit, type Verdict } from './breaker.js';
import { DEFAULT_POOL, type BreakerLimits, type PoolLimits } from './limits.js';
import { Drain } from './drain.js';
import { Slot, type Home } from './slot.js';
import { Ticket } from './ticket.js';

/** Background loads get at most this share of the slots. */
const BACKGROUND_SHARE = 0.25;
/** Bounds of when to ask again where slots or places in the queue are short, ms. */
const SOONEST = 100;
const LATEST = 10_000;

/** One origin's bulkhead, with a bounded, short-lived queue, foreground before background, behind its own breaker. */
export class Pool implements Home {
  readonly held = new Set<Slot>();
  private active = 0;
  private activeBackground = 0;
  /** Loads that other loads wait for: first, since those hold a slot meanwhile. */
  private readonly nested = new Set<Ticket>();
  private readonly foreground = new Set<Ticket>();
  private readonly background = new Set<Ticket>();
  private readonly backgroundLimit: number;
  private readonly breaker: Breaker | undefined;
  private readonly drain: Drain;

  constructor(
    private readonly name: string,
    private readonly limits: PoolLimits,
    private readonly runtime: Runtime,
    /** A load queues for which another load waits. */
    private readonly onNested: () => void,
  ) {
    this.backgroundLimit = Math.max(1, Math.floor(limits.concurrency * BACKGROUND_SHARE));
    this.drain = new Drain(runtime.clock, limits.queueTimeout);
    const { breaker } = limits;
    if (breaker === false) return;
    this.breaker = new Breaker(breaker, runtime.clock, (state) => this.changed(state, breaker));
  }

  get load(): { readonly slots: number; readonly queued: number; readonly breaker: BreakerState | 'off' } {
    return { slots: this.active, queued: this.queued, breaker: this.breaker?.state ?? 'off' };
  }

  private get queued(): number {
    return this.nested.size + this.foreground.size + this.background.size;
  }

  get hasRoom(): boolean {
    return this.active < this.limits.concurrency;
  }

  /** Asks for a slot. The ticket's `slot` rejects with LoadRejectedError when there is none in time. */
  enter(
    where: string,
    { background, parent }: { readonly background: boolean; readonly parent?: Slot | undefined },
  ): Ticket {
    const own = parent?.in(this);
    // A refresh that would only queue must not be the one that tries an ill origin: all others wait for its verdict.
    const isTrial = this.breaker !== undefined && this.breaker.state !== 'closed';
    const mayAsk = !isTrial || !background || own !== undefined || this.admits(true);
    const permit = mayAsk ? this.breaker?.ask(permitsOf(parent, this)) : undefined;
    const ticket = new Ticket(this, where, background, { permit, around: parent });
    if (this.breaker && !permit) {
      ticket.reject(this.shed(where));
      return ticket;
    }
    const slot = own?.lend() ?? (this.admits(background) ? this.take(background) : undefined);
    if (slot) {
      ticket.grant(slot);
      return ticket;
    }
    // A nested load waits for its own chain's slot: it adds nothing to what waits in front of the origin.
    const why = own ? undefined : this.fullness(background);
    if (why !== undefined) {
      ticket.reject(this.rejection(where, why));
      return ticket;
    }
    this.enqueue(ticket);
    if (parent) ticket.borrowFrom(parent);
    return ticket;
  }

  /** A queueing load that other loads wait for. */
  get urgent(): Ticket | undefined {
    const [first] = this.nested;
    return first;
  }

  /** Runs a load on the slot of one that waits. */
  lendTo(ticket: Ticket): void {
    for (const slot of this.held) {
      const lent = slot.lend();
      if (lent) return ticket.grant(lent);
    }
  }

  report(permit: Permit, verdict: Verdict): void {
    this.breaker?.report(permit, verdict);
  }

  refusal(permit: Permit, where: string): LoadRejectedError | undefined {
    return this.breaker?.allows(permit) === false ? this.shed(where) : undefined;
  }

  /** Why no more may queue. Those behind take no places from those before. */
  private fullness(background: boolean): string | undefined {
    const { queue, queueTimeout, concurrency } = this.limits;
    const before = this.nested.size + this.foreground.size;
    if ((background ? this.background.size : before) >= queue)
      return `${queue} loads queue already (${this.option('queue')})`;
    // Longer than its deadline allows, and for long. So many as run may always wait.
    if (background || before <= concurrency || !this.drain.isHopeless(before)) return undefined;
    return `no slot would come free within ${queueTimeout} ms (${this.option('queueTimeout')})`;
  }

  private enqueue(ticket: Ticket): void {
    if (!ticket.background) this.drain.joined();
    (ticket.background ? this.background : this.foreground).add(ticket);
    const { queueTimeout } = this.limits;
    const stop = this.runtime.timers.after(queueTimeout, () => {
      const why = `no slot came free within ${queueTimeout} ms (${this.option('queueTimeout')})`;
      ticket.reject(this.rejection(ticket.where, why));
    });
    const onNested = (): void => {
      this.foreground.delete(ticket);
      this.background.delete(ticket);
      this.nested.add(ticket);
      this.onNested();
    };
    const onPromoted = (): void => this.promote(ticket);
    const onSettled = (): void => {
      stop();
      this.nested.delete(ticket);
      this.foreground.delete(ticket);
      this.background.delete(ticket);
      if (this.nested.size + this.foreground.size === 0) this.drain.emptied();
    };
    ticket.onNested = onNested;
    ticket.onPromoted = onPromoted;
    ticket.onSettled = onSettled;
  }

  private promote(ticket: Ticket): void {
    if (!this.background.delete(ticket)) return;
    ticket.background = false;
    this.drain.joined();
    this.foreground.add(ticket);
    this.next();
  }

  private admits(background: boolean): boolean {
    return this.hasRoom && (!background || this.activeBackground < this.backgroundLimit);
  }

  private take(background: boolean): Slot {
    this.active += 1;
    if (background) this.activeBackground += 1;
    return new Slot(this, () => {
      this.active -= 1;
      if (background) this.activeBackground -= 1;
      this.next();
    });
  }

  private next(): void {
    for (const queue of [this.nested, this.foreground, this.background]) {
      const isBackground = queue === this.background;
      for (const ticket of queue) {
        if (!this.admits(isBackground)) break;
        if (!isBackground) this.drain.served();
        ticket.grant(this.take(isBackground));
      }
    }
  }

  private changed(state: BreakerState, limits: BreakerLimits): void {
    const { log } = this.runtime;
    const who = `The load guard's breaker of ${this.describe()}`;
    if (state === 'closed') return log.info(`${who} has closed: the origin answers again.`);
    if (state === 'half-open') return log.info(`${who} is half-open: one load tries the origin.`);
    log.warn(`${who} has opened: ${this.counted()}. No load for ${limits.halfOpenAfter} ms, then one tries.`);
    // They would find the origin ill when their turn comes.
    for (const ticket of [...this.nested, ...this.foreground, ...this.background])
      ticket.reject(this.shed(ticket.where));
  }

  private counted(): string {
    const { failures, total } = this.breaker?.counts ?? { failures: 0, total: 0 };
    return `${failures} of the last ${total} loads failed`;
  }

  private shed(where: string): LoadRejectedError {
    const { state = 'open', retryAfter = SOONEST } = this.breaker ?? {};
    const why = state === 'half-open' ? 'one load tries whether it answers again' : this.counted();
    const message = `${where}: the load was shed, the origin of ${this.describe()} is failing: ${why} (${this.option('breaker')}).`;
    return new LoadRejectedError(message, retryAfter);
  }

  private rejection(where: string, why: string): LoadRejectedError {
    const retryAfter = Math.min(Math.max(this.limits.queueTimeout, SOONEST), LATEST);
    return new LoadRejectedError(`${where}: the load was shed, ${why}.`, retryAfter);
  }

  private describe(): string {
    return `pool '${this.name}'`;
  }

  private option(name: keyof PoolLimits): string {
    return this.name === DEFAULT_POOL ? `loads.${name}` : `loads.pools.${this.name}.${name}`;
  }
}

/** The leaves of the loads of this pool that a nested load is part of. */
function permitsOf(parent: Slot | undefined, home: Home): readonly Permit[] {
  const permits: Permit[] = [];
  for (let slot = parent; slot !== undefined; slot = slot.around) {
    if (slot.home === home && slot.permit) permits.push(slot.permit);
  }
  return permits;
}
