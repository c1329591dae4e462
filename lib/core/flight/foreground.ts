import { CacheUnavailableError } from '../errors.js';
import type { LoadReason } from '../events/index.js';
import { earlyTags, type ReadAnswer } from '../coherence/index.js';
import type { StoredEntry } from '../entry/index.js';
import { StoreFailure, type Budget } from '../gate/index.js';
import type { LoadSlot } from '../load/index.js';
import { readEndNote } from '../publish/index.js';
import type { Request } from '../request.js';
import type { AcquireReply } from '../store.js';
import { askForLease } from './ask-for-lease.js';
import type { Departure } from './departure.js';
import { seal, tell, type Engine } from './engine.js';
import { NOTHING, type Flight, type Landing } from './flight.js';
import { landingOfEntry } from './landing-of-entry.js';
import { loadAndLand } from './load-flight.js';
import type { LoadTerms } from './settle.js';
import { Waiter } from './waiter.js';

/** Flies until the flight has landed. Never rejects. */
export function flyForeground(
  engine: Engine,
  flight: Flight,
  request: Request,
  departure: Departure,
): Promise<void> {
  return new ForegroundFlight(engine, flight, request, departure).fly();
}

/** What a flight that nobody waits for any more ends with. */
const DESERTED = Symbol('deserted');

class ForegroundFlight {
  private waitedOn = '';
  private since: number | undefined;
  /** What is left for the store in this round of asking. */
  private budget: Budget;

  constructor(
    private readonly engine: Engine,
    private readonly flight: Flight,
    private readonly request: Request,
    private readonly departure: Departure,
  ) {
    this.since = departure.since;
    this.budget = departure.budget;
  }

  async fly(): Promise<void> {
    const { departure, request } = this;
    try {
      this.flight.tags = earlyTags(request);
      if (this.restsHere()) return this.land({ kind: 'resting' });
      if (this.landsWithoutStore()) return;
      while (this.flight.phase !== 'sealed') {
        const slot = await this.slot();
        if (departure.leaseless || request.policy.coordinate !== 'fleet')
          return await this.load(slot, departure.reason);
        await this.attempt(slot);
      }
    } catch (error) {
      this.land(error === DESERTED ? NOTHING : { kind: 'error', error, nature: 'failure' });
    }
  }

  /** A place in front of the origin; the lease is asked for only with one in hand. */
  private slot(): Promise<LoadSlot> {
    const { engine, flight, request, departure } = this;
    flight.phase = 'queued';
    const ticket = (request.batch ?? engine.guard).enter(request.policy, {
      background: false,
      parent: departure.parent?.slot,
    });
    flight.ticket = ticket;
    for (const lender of flight.lenders ?? []) ticket.borrowFrom(lender);
    const onDeserted = (): void => {
      if (!ticket.waiting) return;
      // Out of the map first: a caller who joined now would be turned away for those who left.
      seal(engine, flight);
      ticket.reject(DESERTED);
    };
    flight.onDeserted = onDeserted;
    return ticket.slot;
  }

  /** Asks the store once and does what it says. */
  private async attempt(slot: LoadSlot): Promise<void> {
    const { engine, request } = this;
    const waiter = new Waiter(engine, request.key, this.departure.rejectedId);
    const token = engine.runtime.random.token();
    let reply: AcquireReply;
    try {
      reply = await this.acquire(token);
    } catch (error) {
      waiter.stop();
      return this.withoutStore(slot, error);
    }
    if (reply.code === 'owner') {
      waiter.stop();
      return this.loadUnderLease(slot, token, reply.now);
    }
    this.since ??= reply.now;
    if (reply.code === 'heldOff') {
      waiter.stop();
      return this.load(slot, this.departure.reason);
    }
    slot.release();
    if (reply.code === 'wait') return this.wait(waiter, reply.token, reply.ms);
    waiter.stop();
    if (reply.code === 'hit') return this.takeFromStore((entry) => entry.header.softAt > reply.now);
    if (reply.code === 'outcome') return this.takeOutcome(reply.outcome);
    this.land({ kind: 'resting' });
  }

  private async acquire(token: string): Promise<AcquireReply> {
    const { engine, request, departure, flight } = this;
    if (flight.asked) this.budget = engine.gate.budget();
    flight.asked = true;
    flight.phase = 'asking';
    const question = {
      token,
      mode: 'load',
      willWait: engine.gate.store.pushUp(),
      rejectedId: departure.rejectedId,
      hasStale: departure.hasStale && flight.kind !== 'forced',
      waitedOn: this.waitedOn,
    } as const;
    return askForLease(engine, request, question, this.budget);
  }

  private async loadUnderLease(slot: LoadSlot, token: string, now: number): Promise<void> {
    if (this.flight.callers === 0) return this.stayOnGround(slot, token, NOTHING);
    const error = slot.refusal(this.request.policy.where);
    if (error) return this.stayOnGround(slot, token, { kind: 'error', error, nature: 'failure' });
    const lease = {
      token,
      leaseMs: this.request.policy.lease,
      grantedAt: now,
    };
    return loadAndLand(this.engine, this.flight, this.request, {
      ...this.terms(slot, this.departure.reason),
      lease,
    });
  }

  /** Everybody left before the load began, or its origin began to fail: the lease goes back. */
  private async stayOnGround(slot: LoadSlot, token: string, landing: Landing): Promise<void> {
    slot.release();
    this.land(landing);
    await this.engine.gate.release(this.request.key, { token, outcome: '' }).catch(() => false);
  }

  private async load(slot: LoadSlot, reason: LoadReason): Promise<void> {
    const error = slot.refusal(this.request.policy.where);
    if (error) {
      slot.release();
      throw error;
    }
    return loadAndLand(this.engine, this.flight, this.request, this.terms(slot, reason));
  }

  private terms(slot: LoadSlot, reason: LoadReason): LoadTerms {
    const { stale, hasStale, parent, rejectedId } = this.departure;
    return { slot, lease: undefined, reason, stale, hasStale, parent, tags: this.flight.tags, rejectedId };
  }

  private async withoutStore(slot: LoadSlot, error: unknown): Promise<void> {
    const { policy } = this.request;
    if (!(error instanceof StoreFailure)) {
      slot.release();
      throw error;
    }
    if (policy.onRedisDown === 'load') return this.loadAlone(slot);
    slot.release();
    this.refuse(error);
  }

  /** `onRedisDown: 'error'` and a store that is known to be away: it needs no slot to say so. */
  private landsWithoutStore(): boolean {
    const { engine, request, departure } = this;
    if (request.policy.onRedisDown === 'load' || request.policy.coordinate !== 'fleet' || departure.leaseless)
      return false;
    const failure = engine.gate.unreachable(request.key);
    if (failure) this.refuse(failure);
    return failure !== undefined;
  }

  private refuse(cause: StoreFailure): void {
    // Nest shows this message to clients: the address of the server stays in the cause.
    const message = `${this.request.policy.where}: Redis can't be used at present and onRedisDown is 'error': the origin was not called.`;
    const error = new CacheUnavailableError(message, 1_000, { cause });
    this.land({ kind: 'error', error, nature: 'barred' });
  }

  /** Its last load failed while nobody granted leases: no marker in the store tells so. */
  private restsHere(): boolean {
    const { engine, flight, departure } = this;
    return departure.hasStale && flight.kind === 'foreground' && engine.leaseless.isResting(flight.key);
  }

  /** Without a lease: one at a time in this process, and rest after a failure. */
  private async loadAlone(slot: LoadSlot): Promise<void> {
    const { engine, flight, request, departure } = this;
    const { leaseless } = engine;
    let own = slot;
    for (let before = leaseless.before(flight.key); before; before = leaseless.before(flight.key)) {
      own.release();
      // Not begun: whoever wants a load that begins later may join again.
      flight.asked = false;
      // Its callers' patience counts: the load before may wait, over others, for them.
      flight.phase = 'waiting';
      await before;
      own = await this.slot();
    }
    flight.asked = true;
    const load = this.load(own, 'redis_down');
    leaseless.runs(flight.key, load);
    flight.onLanding(Infinity, (landing) => {
      if (departure.hasStale && landing.kind === 'error' && landing.nature !== 'answer')
        leaseless.rest(flight.key, request.policy.failureBackoff);
    });
    return load;
  }

  private async wait(waiter: Waiter, token: string, ms: number): Promise<void> {
    const { engine, flight, request } = this;
    const { clock } = engine.runtime;
    flight.phase = 'waiting';
    const onDeserted = (): void => waiter.desert();
    flight.onDeserted = onDeserted;
    if (flight.callers === 0) waiter.desert();
    const started = clock.now();
    tell(engine, request, 'wait.start', {});
    const woken = await waiter.wait(token, ms);
    this.budget = engine.gate.budget();
    tell(engine, request, 'wait.end', { duration: clock.now() - started });
    this.waitedOn = token;
    if (woken.kind === 'published')
      return this.takeFromStore((entry) => entry.header.id === token || this.isFresh(entry));
    if (woken.kind === 'ended') return this.takeOutcome(woken.outcome);
    if (woken.kind === 'deserted') this.land(NOTHING);
  }

  /** Another process has it: read it. Sealed first: who comes while the read is under way may know more than it will say. */
  private async takeFromStore(isGood: (entry: StoredEntry) => boolean): Promise<void> {
    const { engine, flight, request } = this;
    seal(engine, flight);
    let answer: ReadAnswer;
    try {
      answer = await engine.reads.readAlone(request, this.budget);
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
      if (this.comesBack()) return this.withoutStore(await this.slot(), error);
      return this.land({ kind: 'nothing', rejectedId: '', since: this.since });
    }
    const { entry } = answer;
    const good = entry !== undefined && isGood(entry) && !this.beganTooEarly(entry);
    const landing = good ? landingOfEntry(engine, entry, request) : undefined;
    this.land(landing ?? { kind: 'nothing', rejectedId: answer.foundId, since: this.since });
  }

  /**
   * It was sealed and must load after all: it may be joined again, unless others lead a load of the key by now. Its callers
   * join that one then.
   */
  private comesBack(): boolean {
    const { engine, flight } = this;
    const flights = flight.kind === 'forced' ? engine.forced : engine.foreground;
    if (flights.get(flight.key)) return false;
    flights.add(flight);
    return true;
  }

  private beganTooEarly(entry: StoredEntry): boolean {
    return this.flight.kind === 'forced' && entry.header.loadStart <= (this.since ?? Infinity);
  }

  private isFresh(entry: StoredEntry): boolean {
    return entry.header.softAt > this.engine.gate.store.now();
  }

  private async takeOutcome(outcome: string): Promise<void> {
    const { engine, request } = this;
    const note = readEndNote(outcome);
    // Unreadable: written by another version. For a forced flight: about a load begun too early. Ask again.
    if (note === undefined || this.flight.kind === 'forced') {
      this.waitedOn = '';
      return;
    }
    if (note.kind === 'uncacheable') return this.load(await this.slot(), 'miss');
    const error = engine.errors.unpack(note.error, request.policy.errors, request.policy.where);
    this.land({ kind: 'error', error, nature: note.answer ? 'answer' : 'failure' });
  }

  private land(landing: Landing): void {
    seal(this.engine, this.flight);
    this.flight.land(landing);
  }
}
