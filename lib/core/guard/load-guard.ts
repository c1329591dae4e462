import { LoadRejectedError } from '../errors.js';
import type { Runtime } from '../ports.js';
import { Slot } from './slot.js';
import { Ticket } from './ticket.js';

/** What stands in front of the origin, per process. */
export interface GuardLimits {
  /** Loads at once. */
  readonly concurrency: number;
  /** Loads waiting for a slot. */
  readonly queue: number;
  /** The longest a load waits for a slot, ms. Short: a long queue in front of an ill origin serves everybody too late. */
  readonly queueTimeout: number;
  /** Callers waiting for anything. */
  readonly waiters: number;
}

/** Background loads get at most this share of the slots. */
const BACKGROUND_SHARE = 0.25;

/** The load guard: a bulkhead with a bounded, short-lived queue; foreground before background. */
export class LoadGuard {
  private active = 0;
  private activeBackground = 0;
  private callers = 0;
  private readonly foreground = new Set<Ticket>();
  private readonly background = new Set<Ticket>();
  private readonly backgroundLimit: number;

  constructor(
    private readonly limits: GuardLimits,
    private readonly runtime: Runtime,
  ) {
    this.backgroundLimit = Math.max(1, Math.floor(limits.concurrency * BACKGROUND_SHARE));
  }

  get load(): { readonly slots: number; readonly queued: number; readonly callers: number } {
    return { slots: this.active, queued: this.foreground.size + this.background.size, callers: this.callers };
  }

  /** Counts one waiting caller in. @throws LoadRejectedError beyond `waiters` */
  admit(where: string): void {
    if (this.callers >= this.limits.waiters) {
      throw this.rejection(where, `${this.limits.waiters} callers wait already (loads.waiters)`);
    }
    this.callers += 1;
  }

  /** Counts it out. */
  dismiss(): void {
    this.callers -= 1;
  }

  /** Asks for a slot. The ticket's `slot` rejects with LoadRejectedError when there is none in time. */
  enter(
    where: string,
    options: { readonly background: boolean; readonly parent?: Slot | undefined },
  ): Ticket {
    const ticket = new Ticket(options.background);
    const borrowed = options.parent?.lend();
    if (borrowed) {
      ticket.grant(borrowed);
      return ticket;
    }
    if (this.hasRoom(options.background)) {
      ticket.grant(this.take(options.background));
      return ticket;
    }
    // A nested load waits for its own chain's slot: it adds nothing to what waits in front of the origin.
    if (!options.parent && this.foreground.size + this.background.size >= this.limits.queue) {
      ticket.reject(this.rejection(where, `${this.limits.queue} loads queue already (loads.queue)`));
      return ticket;
    }
    this.enqueue(ticket, where);
    if (options.parent) ticket.borrowFrom(options.parent);
    return ticket;
  }

  /** A foreground caller waits for this background load now: it moves to the foreground's queue. */
  promote(ticket: Ticket): void {
    if (!ticket.background || !this.background.delete(ticket)) return;
    ticket.background = false;
    this.foreground.add(ticket);
    this.next();
  }

  private enqueue(ticket: Ticket, where: string): void {
    (ticket.background ? this.background : this.foreground).add(ticket);
    const stop = this.runtime.timers.after(this.limits.queueTimeout, () => {
      ticket.reject(
        this.rejection(where, `no slot came free within ${this.limits.queueTimeout} ms (loads.queueTimeout)`),
      );
    });
    ticket.onSettled = () => {
      stop();
      this.foreground.delete(ticket);
      this.background.delete(ticket);
    };
  }

  private hasRoom(background: boolean): boolean {
    if (this.active >= this.limits.concurrency) return false;
    return !background || this.activeBackground < this.backgroundLimit;
  }

  private take(background: boolean): Slot {
    this.active += 1;
    if (background) this.activeBackground += 1;
    return new Slot(() => {
      this.active -= 1;
      if (background) this.activeBackground -= 1;
      this.next();
    });
  }

  private next(): void {
    for (const [queue, background] of [[this.foreground, false] as const, [this.background, true] as const]) {
      for (const ticket of queue) {
        if (!this.hasRoom(background)) break;
        ticket.grant(this.take(background));
      }
    }
  }

  private rejection(where: string, why: string): LoadRejectedError {
    return new LoadRejectedError(`${where}: the load was shed, ${why}.`, this.limits.queueTimeout);
  }
}
