import type { LoadRejectedError } from '../errors.js';
import type { Permit, Verdict } from './breaker.js';

/** Who would take a slot when it comes back. */
export interface Taker {
  grant(slot: Slot): void;
}

/** A load's place in a queue, as far as one looks who asks whether anything moves. */
export interface Queued {
  readonly home: Home;
}

/** What a load can wait for: a place in a queue, another load, or (undefined) something outside of the guard. */
export type Awaiting = Queued | Slot | undefined;

/** The pool of a slot, as the slot sees it. */
export interface Home {
  /** Its slots out there, of those that are lent only the last one. */
  readonly held: Set<Slot>;
  readonly hasRoom: boolean;
  report(permit: Permit, verdict: Verdict): void;
  refusal(permit: Permit, where: string): LoadRejectedError | undefined;
}

/** Whose load a slot is given to. */
export interface Bearer {
  readonly permit: Permit | undefined;
  /** The slot of the load that it is part of. */
  readonly around: Slot | undefined;
}

const asksNothing = (): readonly Awaiting[] => [];

/**
 * The right to run one load. A load that calls other cached methods lends its slot to one of them at a time, so that nested
 * loads can't starve each other of slots.
 */
export class Slot {
  private bearer: Bearer = { permit: undefined, around: undefined };
  private begun = false;
  private asks: () => readonly Awaiting[] = asksNothing;
  private lent = false;
  private returned = false;
  /** Nested loads that would take this slot as soon as it is back. */
  private readonly wanting = new Set<Taker>();

  constructor(
    readonly home: Home,
    private readonly giveBack: () => void,
  ) {
    home.held.add(this);
  }

  /** What nested loads borrow. */
  get whole(): Slot {
    return this;
  }

  get permit(): Permit | undefined {
    return this.bearer.permit;
  }

  get around(): Slot | undefined {
    return this.bearer.around;
  }

  /** What its load waits for now. Nothing: it runs. */
  awaits(): readonly Awaiting[] {
    return this.asks();
  }

  /** The slot of its chain in that pool, from the inside out. */
  in(home: Home): Slot | undefined {
    if (this.home === home) return this;
    return this.around?.in(home);
  }

  give(bearer: Bearer): this {
    this.bearer = bearer;
    return this;
  }

  /** Why the origin must not be called any more: the breaker has opened while its load prepared. */
  refusal(where: string): LoadRejectedError | undefined {
    return this.permit && this.home.refusal(this.permit, where);
  }

  /** The origin is being called: a verdict will follow. `awaits` tells what the load waits for. */
  begin(awaits: () => readonly Awaiting[]): void {
    this.begun = true;
    this.asks = awaits;
  }

  /** What the load says of its origin. */
  report(verdict: Verdict): void {
    const { permit } = this;
    this.bearer = { ...this.bearer, permit: undefined };
    if (permit) this.home.report(permit, verdict);
  }

  /** Ends the right. While lent, the place stays taken until the borrower is done. Idempotent. */
  release(): void {
    if (this.returned) return;
    this.returned = true;
    this.home.held.delete(this);
    if (!this.begun) this.report('nothing');
    if (!this.lent) this.giveBack();
  }

  /** A slot in place of this one, or undefined while another nested load has it. */
  lend(): Slot | undefined {
    if (this.lent || this.returned) return undefined;
    this.lent = true;
    this.home.held.delete(this);
    return new Slot(this.home, () => this.takeBack());
  }

  /** Grants `taker` this slot when it is back; it leaves by {@link forget}. */
  want(taker: Taker): void {
    this.wanting.add(taker);
  }

  forget(taker: Taker): void {
    this.wanting.delete(taker);
  }

  private takeBack(): void {
    this.lent = false;
    if (this.returned) {
      this.giveBack();
      return;
    }
    this.home.held.add(this);
    const [next] = this.wanting;
    const slot = next && this.lend();
    if (next && slot) next.grant(slot);
  }
}
