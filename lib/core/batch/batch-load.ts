import { deferred } from '../deferred.js';
import type { Awaiting, Slot, Ticket, Verdict } from '../guard/index.js';
import type { BatchMember, ChainLink, RunningLoadContext } from '../load/index.js';
import type { Cancel, Timers } from '../ports.js';
import { BatchContext, type Part } from './batch-context.js';
import { BatchLink } from './batch-link.js';
import { RunningManyContext } from './load-many-context.js';
import { Seat, type Gathering } from './seat.js';
import type { Pace } from './pace.js';

/** What the loads of one call have in common. */
export interface BatchTerms {
  readonly guard: { enter(...asking: Parameters<BatchMember['enter']>): Ticket };
  readonly pace: Pace;
  readonly timers: Timers;
  /** Whose calls they are, for messages. */
  readonly where: string;
  /** The user's loader; the values by id. */
  readonly load: (ids: unknown[], context: RunningManyContext) => Promise<ReadonlyMap<unknown, unknown>>;
}

/** How far apart what is loaded together may come, where nobody is expected, ms: leases of a process that died run out one by one. */
const MOMENT = 10;

/** What a place is given up with that nobody needs any more. */
const UNUSED = new Error('Nothing is left to load.');

/**
 * One call of the user's loader for many ids, from the moment on at which somebody might need it. It is made once every key has
 * decided: ours are loaded, the others wait for nobody here. Deciding is bounded in time, so that nobody is kept waiting for long.
 * All of them share a place in front of the origin, a slot and a verdict.
 */
export class BatchLoad implements Gathering {
  private readonly seats = new Map<unknown, Seat>();
  private readonly parts: Part[] = [];
  private readonly gathered = deferred<void>();
  private readonly controller = new AbortController();
  private undecided = 0;
  private isClosed = false;
  private ticket: Ticket | undefined;
  private granted: Slot | undefined;
  private link: BatchLink | undefined;
  private values: Promise<ReadonlyMap<unknown, unknown>> | undefined;
  private aborted = 0;
  private unreported = 0;
  private endMoment: Cancel | undefined;

  constructor(private readonly terms: BatchTerms) {}

  /** Whether a load of this id may still become part of it. */
  takes(id: unknown): boolean {
    return !this.isClosed && !this.seats.has(id);
  }

  /** A call may lead a load that belongs to it: until that has {@link decided} the loader waits. */
  expect(): void {
    this.undecided += 1;
  }

  decided(): void {
    this.undecided -= 1;
    this.look();
  }

  /** Nobody was expected and somebody came: waits a moment for others. */
  waitForMore(): this {
    const stop = this.terms.timers.after(MOMENT, () => this.endMoment?.());
    const endMoment = (): void => {
      stop();
      this.endMoment = undefined;
      this.isClosed = this.parts.length > 0;
      this.decided();
    };
    this.endMoment = endMoment;
    this.expect();
    return this;
  }

  /** Takes the load of one id in. */
  enter(id: unknown, index: number, ...[policy, options]: Parameters<BatchMember['enter']>): Seat {
    const { guard, pace } = this.terms;
    const ticket = (this.ticket ??= this.queue(guard.enter(policy, options)));
    const seat = new Seat(id, index, this, ticket, pace.asks);
    this.seats.set(id, seat);
    this.undecided += 1;
    return seat;
  }

  get slot(): Slot {
    // Asked for by seats that were granted it.
    if (this.granted === undefined) throw new Error('A batch has no slot yet.');
    return this.granted;
  }

  join(seat: Seat, context: RunningLoadContext, parent: ChainLink | undefined): ChainLink {
    this.isClosed = this.endMoment === undefined;
    this.parts.push({ id: seat.id, index: seat.index, context });
    const { signal } = this.controller;
    this.link ??= new BatchLink(new BatchContext(this.terms.where, this.parts, signal), this.slot, parent);
    this.link.join(context.key);
    context.signal.addEventListener('abort', () => this.letGo(context.signal.reason), { once: true });
    return this.link;
  }

  /** The first of them calls the loader, in its own async context. */
  async load({ id }: Seat): Promise<unknown> {
    await this.gathered.promise;
    this.values ??= this.callLoader();
    return (await this.values).get(id);
  }

  over(keyId: string): void {
    this.link?.leave(keyId);
  }

  begin(awaits: () => readonly Awaiting[]): void {
    this.unreported += 1;
    this.slot.begin(awaits);
  }

  leave(seat: Seat): void {
    this.seats.delete(seat.id);
    if (this.seats.size === 0) this.endMoment?.();
    this.look();
  }

  /** The first that has something to say speaks for all: they had one answer. */
  report(verdict: Verdict): void {
    this.unreported -= 1;
    if (verdict !== 'nothing') this.slot.report(verdict);
    else this.endSilently();
  }

  private queue(ticket: Ticket): Ticket {
    const keep = (slot: Slot): void => void (this.granted = slot);
    ticket.slot.then(keep, () => undefined);
    return ticket;
  }

  private async callLoader(): Promise<ReadonlyMap<unknown, unknown>> {
    const { load, where } = this.terms;
    this.parts.sort((one, other) => one.index - other.index);
    const wanted = this.parts.filter(({ context }) => !context.signal.aborted);
    if (wanted.length === 0) return new Map();
    const context = new RunningManyContext(where, wanted, this.controller.signal);
    return load(
      wanted.map(({ id }) => id),
      context,
    );
  }

  private letGo(reason: unknown): void {
    this.aborted += 1;
    if (this.undecided === 0 && this.aborted === this.parts.length) this.controller.abort(reason);
  }

  private get isOver(): boolean {
    return this.undecided === 0 && this.seats.size === 0;
  }

  private look(): void {
    if (this.undecided > 0) return;
    this.isClosed = true;
    if (this.parts.length > 0) this.gathered.resolve();
    if (!this.isOver) return;
    if (this.granted) this.giveBack();
    else this.ticket?.reject(UNUSED);
  }

  private giveBack(): void {
    this.slot.release();
    this.endSilently();
  }

  private endSilently(): void {
    if (this.isOver && this.unreported === 0) this.slot.report('nothing');
  }
}
