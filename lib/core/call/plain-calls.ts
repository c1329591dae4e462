import type { ReadAnswer, SharedRead } from '../coherence/index.js';
import type { Engine, Flight, Refresher } from '../flight/index.js';
import { PLAIN_CALL } from '../policy/index.js';
import type { Request } from '../request.js';
import { isLarge, judge, outcomeOf, readLanding, type Answer } from './answers.js';
import { Call } from './call.js';
import { joinable, joinsUnread } from './join-or-lead.js';
import { Ride, type RideEnd } from './ride.js';
import { countMiss, readHit, serve } from './serve.js';
import { Together } from './together.js';

/** A flight that calls of one read wait for together. */
interface Company {
  readonly flight: Flight;
  readonly ride: Ride;
  readonly waitTimeout: number;
}

/**
 * Answers calls of which nothing has to be looked at before their read. Most are hits of a read that others share: of those
 * each costs one promise, whose callback runs in its caller's own async context, and no more. Those that miss together wait for
 * one flight together, and each is then handed its own copy.
 */
export class PlainCalls {
  private readonly companies = new WeakMap<SharedRead, Company>();

  constructor(
    private readonly engine: Engine,
    private readonly refresher: Refresher,
  ) {}

  /** @param pick what the caller is to get of the answer */
  answer<R>(request: Request, pick: (answer: Answer) => R): Promise<R> {
    const read = this.read(request);
    if (read === undefined) return this.callOf(request).answer().then(pick);
    return read.answer.then((found) => {
      const hit = this.hitOf(request, found, 1);
      return hit ? pick(hit) : this.miss(request, read, found).then(pick);
    });
  }

  /** The same where all callers get one frozen value: they may share its promise, too. Undefined: they may not. */
  together(request: Request, onRead: () => void): Together | undefined {
    const read = this.engine.events.active ? undefined : this.read(request);
    return read && new Together(this.engine, this, request, read, onRead);
  }

  /** The read this call shares with those of its turn. Undefined: it reads nothing, or a copy in this process. */
  read(request: Request): SharedRead | undefined {
    return this.engine.reads.mayBeNear(request) ? undefined : this.readStored(request);
  }

  /** What a copy in this process has, where it surely counts. */
  nearBy(request: Request): ReadAnswer | undefined {
    const entry = this.engine.reads.near(request);
    return entry && { entry, foundId: entry.header.id };
  }

  /** The read this call shares with those of its turn, whatever copies there are. Undefined: it would tell nothing. */
  readStored(request: Request): SharedRead | undefined {
    const { engine } = this;
    if (joinsUnread(engine, request)) return undefined;
    const read = engine.reads.readShared(request);
    read.arrival = engine.arrivals.next();
    return read;
  }

  /**
   * Undefined: it takes more than this.
   * @param readers how many callers get it
   * @throws a stored error
   */
  hitOf(request: Request, found: ReadAnswer | undefined, readers: number): Answer | undefined {
    const { engine, refresher } = this;
    const entry = found?.entry;
    if (entry === undefined || request.call.fresh || isLarge(entry.payload, request)) return undefined;
    const now = engine.gate.store.now();
    const state = judge(engine, entry, request, now);
    const reading = readHit(engine, refresher, request, entry, state, now, readers);
    if (reading === undefined) return undefined;
    const answer = serve(engine, request, reading);
    engine.counters.outcomes[answer.outcome] += 1;
    return answer;
  }

  /** A call that leads, or joins, on its own. */
  lead(request: Request, read: SharedRead | undefined, found: ReadAnswer | undefined): Promise<Answer> {
    const call = this.callOf(request, read);
    return read === undefined ? call.answer() : call.answerWith(found);
  }

  private miss(request: Request, read: SharedRead, found: ReadAnswer | undefined): Promise<Answer> {
    const company = mayRideAlong(request, found) ? this.companyOf(request, read) : undefined;
    if (company === undefined) return this.lead(request, read, found);
    const { engine } = this;
    countMiss(engine, request);
    try {
      engine.guard.admit(request.policy.where);
    } catch (error) {
      return this.callOf(request, read).shed(found, error);
    }
    return company.ride.end.then((end) => this.landed(request, read, found, end));
  }

  private landed(
    request: Request,
    read: SharedRead,
    found: ReadAnswer | undefined,
    end: RideEnd,
  ): Answer | Promise<Answer> {
    const { engine } = this;
    if (end.kind !== 'value' || isLarge(end.payload, request))
      return this.callOf(request, read).goOn(found, end);
    let answer: Answer;
    try {
      answer = readLanding(engine, end, request, false);
    } catch {
      // It is for the call to find out.
      return this.callOf(request, read).goOn(found, end);
    }
    engine.guard.dismiss();
    engine.counters.outcomes[outcomeOf(end, false)] += 1;
    return answer;
  }

  /** One ride for all who missed with this read, on a flight that runs already. Undefined: none does. */
  private companyOf(request: Request, read: SharedRead): Company | undefined {
    const { engine } = this;
    const flight = joinable(engine, request);
    if (flight === undefined) return undefined;
    const { waitTimeout } = request.policy;
    const known = this.companies.get(read);
    if (known?.flight === flight) return known.waitTimeout === waitTimeout ? known : undefined;
    if (flight.ticket?.waiting === true) flight.ticket.promote();
    const ride = new Ride(flight, undefined, read.arrival);
    ride.limitWait(engine.runtime, waitTimeout - (engine.runtime.clock.now() - read.since));
    const company = { flight, ride, waitTimeout };
    this.companies.set(read, company);
    return company;
  }

  private callOf(request: Request, read?: SharedRead): Call {
    const start = read && {
      arrival: read.arrival,
      arrivedAt: read.since,
      budget: { left: read.budget.left },
    };
    return new Call(this.engine, this.refresher, request, undefined, start);
  }
}

/** Nothing of the call ends its wait before the others', and no large hit is left for it to serve. */
function mayRideAlong(request: Request, found: ReadAnswer | undefined): boolean {
  const { call, policy } = request;
  if (found?.entry !== undefined && isLarge(found.entry.payload, request)) return false;
  return call === PLAIN_CALL && policy.coordinate !== 'none' && policy.softTimeout === undefined;
}
