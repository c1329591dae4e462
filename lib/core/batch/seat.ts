import { deferred } from '../deferred.js';
import type { LoadRejectedError } from '../errors.js';
import type { Awaiting, Home, Slot, Ticket, Verdict } from '../guard/index.js';
import type { ChainLink, LoadSlot, Place, RunningLoadContext, SharedLoad } from '../load/index.js';
import type { Turnstile } from './turnstile.js';

/** What a seat is part of. */
export interface Gathering {
  readonly slot: Slot;
  /** It is known now: the seat's load has joined, or never will. */
  decided(): void;
  join(seat: Seat, context: RunningLoadContext, parent: ChainLink | undefined): ChainLink;
  begin(awaits: () => readonly Awaiting[]): void;
  load(seat: Seat): Promise<unknown>;
  /** The load of one key is over. */
  over(keyId: string): void;
  /** Its share in the slot comes back. */
  leave(seat: Seat): void;
  report(verdict: Verdict): void;
}

/**
 * One key's share in a load of many: in its place in front of the origin, in its slot, in what it gives. `queued`: there is no
 * slot yet. `asking`: whether the key is ours is not known yet. `joined`: it is.
 */
export class Seat implements Place, LoadSlot, SharedLoad {
  readonly shared: SharedLoad = this;
  private readonly granted = deferred<LoadSlot>();
  private state: 'queued' | 'asking' | 'joined' | 'gone' = 'queued';
  private keyId = '';
  private readonly pass: () => void;

  constructor(
    readonly id: unknown,
    /** The place of its id in the call. */
    readonly index: number,
    private readonly of: Gathering,
    private readonly ticket: Ticket,
    private readonly turnstile: Turnstile,
  ) {
    const pass = (): void => {
      this.state = 'asking';
      this.granted.resolve(this);
    };
    this.pass = pass;
    // As with a ticket: whoever waits sees the rejection.
    this.granted.promise.catch(() => undefined);
    ticket.slot.then(
      () => {
        if (this.state === 'queued') turnstile.enter(this.pass);
      },
      (error: unknown) => this.giveUp(error),
    );
  }

  get slot(): Promise<LoadSlot> {
    return this.granted.promise;
  }

  get whole(): Slot {
    return this.of.slot;
  }

  get home(): Home {
    return this.ticket.home;
  }

  get waiting(): boolean {
    return this.state === 'queued' && this.ticket.waiting;
  }

  promote(): void {
    this.ticket.promote();
  }

  borrowFrom(parent: Slot): void {
    this.ticket.borrowFrom(parent);
  }

  /** Only while the slot is not there yet: one that has been granted must come to somebody. */
  reject(error: unknown): void {
    if (this.waiting) this.giveUp(error);
  }

  refusal(where: string): LoadRejectedError | undefined {
    return this.whole.refusal(where);
  }

  join(context: RunningLoadContext, parent: ChainLink | undefined): ChainLink {
    this.keyId = context.key;
    const link = this.of.join(this, context, parent);
    this.become('joined');
    return link;
  }

  begin(awaits: () => readonly Awaiting[]): void {
    this.of.begin(awaits);
  }

  load(): Promise<unknown> {
    return this.of.load(this);
  }

  leave(): void {
    this.of.over(this.keyId);
  }

  /** Gives the share back. Idempotent. */
  release(): void {
    if (this.state === 'gone') return;
    this.become('gone');
    this.of.leave(this);
  }

  report(verdict: Verdict): void {
    this.of.report(verdict);
  }

  private giveUp(error: unknown): void {
    if (this.state !== 'queued') return;
    this.release();
    this.granted.reject(error);
  }

  private become(state: 'joined' | 'gone'): void {
    const before = this.state;
    this.state = state;
    if (before === 'joined') return;
    if (before === 'asking') this.turnstile.leave();
    else this.turnstile.forget(this.pass);
    this.of.decided();
  }
}
