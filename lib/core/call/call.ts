import { LoadRejectedError, ReentrantLoadError, WaitTimeoutError } from '../errors.js';
import type { ReadAnswer } from '../coherence/index.js';
import type { Budget } from '../gate/index.js';
import {
  detachedFlightOf,
  tell,
  type Engine,
  type Flight,
  type Landing,
  type Refresher,
} from '../flight/index.js';
import { wouldDeadlock, type ChainLink } from '../load/index.js';
import { uncacheable } from '../publish/index.js';
import type { Request } from '../request.js';
import { judge, outcomeOf, readLanding, turnToRead, UNSTORED, type Answer, type Reading } from './answers.js';
import { joinOrLead, joinsUnread } from './join-or-lead.js';
import { orAborted } from './or-aborted.js';
import { allowsStale, OwnRead } from './own-read.js';
import { Ride, type RideEnd } from './ride.js';
import { countMiss, readHit, serve } from './serve.js';

/** After so many flights that led nowhere the origin is asked without the store. */
const MAX_FLIGHTS = 8;
/** The longest a call made inside a load waits for others, ms: its own lease keeps others waiting meanwhile. */
const NESTED_WAIT = 1_000;

/** How a call began. */
export interface Start {
  readonly arrival: number;
  /** Monotonic, ms. */
  readonly arrivedAt: number;
  readonly budget: Budget;
}

/**
 * One call, from its arrival to its answer: a hit decided on one read; else it joins or leads flights until one lands with
 * something for it; else its own stale value or its fallback stands in.
 */
export class Call {
  private readonly arrival: number;
  private readonly arrivedAt: number;
  private readonly budget: Budget;
  private readonly own: OwnRead;
  private rejectedId = '';
  private since: number | undefined;
  private heedsRest = true;
  private flights = 0;

  constructor(
    private readonly engine: Engine,
    private readonly refresher: Refresher,
    private readonly request: Request,
    private readonly inside: ChainLink | undefined,
    start?: Start,
  ) {
    this.arrival = start?.arrival ?? engine.arrivals.next();
    this.arrivedAt = start?.arrivedAt ?? engine.runtime.clock.now();
    this.budget = start?.budget ?? engine.gate.budget();
    this.own = new OwnRead(engine, request, this.budget);
  }

  async answer(): Promise<Answer> {
    const { engine, request } = this;
    if (this.own.readNear()) return this.afterRead();
    if (joinsUnread(engine, request)) return this.counted(await this.miss());
    const { signal } = request.call;
    await (signal ? orAborted(engine.abortWatch, signal, this.own.read()) : this.own.read());
    return this.afterRead();
  }

  /** The answer of a call whose read was shared. @param read undefined: the store told nothing */
  answerWith(read: ReadAnswer | undefined): Promise<Answer> {
    this.own.take(read);
    return this.afterRead();
  }

  /**
   * The answer of a call that missed and rode along with others to `end`. It was admitted already.
   * @param read as for {@link answerWith}
   */
  async goOn(read: ReadAnswer | undefined, end: RideEnd): Promise<Answer> {
    this.own.take(read);
    this.rejectedId = this.own.rejectedId(this.engine.gate.store.now()) ?? '';
    this.flights = 1;
    try {
      return this.counted((await this.conclude(end, false)) ?? (await this.fly()));
    } finally {
      this.engine.guard.dismiss();
    }
  }

  /** The answer of a call that missed and was not admitted. */
  async shed(read: ReadAnswer | undefined, error: unknown): Promise<Answer> {
    this.own.take(read);
    return this.counted(await this.standIn(error, true));
  }

  private async afterRead(): Promise<Answer> {
    const { engine, request } = this;
    const turn = this.own.turnToHit(this.arrivedAt);
    if (turn) {
      // It keeps nobody of its batch waiting.
      request.batch?.settle();
      await turn;
    }
    const hit = this.hit();
    return this.counted(hit ? serve(engine, request, hit) : await this.miss());
  }

  private counted(answer: Answer): Answer {
    this.engine.counters.outcomes[answer.outcome] += 1;
    return answer;
  }

  private async miss(): Promise<Answer> {
    const { engine, request } = this;
    countMiss(engine, request);
    try {
      engine.guard.admit(request.policy.where);
    } catch (error) {
      return this.standIn(error, true);
    }
    try {
      return await this.fly();
    } finally {
      engine.guard.dismiss();
    }
  }

  /** The answer of this call's own read, if it may be served as it is. */
  private hit(): Reading | undefined {
    const { engine, request, refresher, own } = this;
    const { entry } = own;
    const now = engine.gate.store.now();
    const mayServe = entry !== undefined && !request.call.fresh;
    const reading =
      mayServe && readHit(engine, refresher, request, entry, judge(engine, entry, request, now), now);
    if (reading) return reading;
    this.rejectedId = this.own.rejectedId(now) ?? this.rejectedId;
    return undefined;
  }

  private async fly(): Promise<Answer> {
    for (;;) {
      this.flights += 1;
      const { flight, leads } =
        this.flights > MAX_FLIGHTS
          ? this.detached()
          : joinOrLead(this.engine, this.request, {
              arrival: this.arrival,
              stale: this.own.entry,
              hasStale: this.heedsRest && this.own.holdsStale(),
              rejectedId: this.rejectedId,
              since: this.since,
              budget: this.flights === 1 ? this.budget : this.engine.gate.budget(),
              parent: this.inside,
            });
      const answer = await this.take(flight, leads);
      if (answer) return answer;
    }
  }

  /** Waits for one flight. Undefined: it had nothing for this call, another one is needed. */
  private async take(flight: Flight, leads: boolean): Promise<Answer | undefined> {
    const { engine, request, inside } = this;
    if (inside && wouldDeadlock(inside, flight)) return this.standIn(this.reentrant(), false);
    const ride = new Ride(flight, inside, this.arrival);
    if (flight.ticket?.waiting === true) {
      flight.ticket.promote();
      // We hold a slot and wait for a load that queues for one.
      if (inside?.slot) flight.ticket.borrowFrom(inside.slot);
    }
    if (request.call.signal) ride.abortBy(engine.abortWatch, request.call.signal);
    // A detached load is what those get who have waited long enough.
    if (engine.detached.get(request.key) !== flight) ride.limitWait(engine.runtime, this.patience());
    const { softTimeout } = request.policy;
    const isHard =
      softTimeout === undefined || (leads && inside?.slot !== undefined) || !allowsStale(request);
    return this.conclude(await (isHard ? ride.end : this.softly(ride, softTimeout)), leads);
  }

  /** For how long this call still waits for another process or for a slot, ms. */
  private patience(): number {
    const longest = this.inside
      ? Math.min(this.request.policy.waitTimeout, NESTED_WAIT)
      : this.request.policy.waitTimeout;
    return longest - this.waited();
  }

  private waited(): number {
    return this.engine.runtime.clock.now() - this.arrivedAt;
  }

  /**
   * Rides on; past `softTimeout` this call's own old value ends its ride. Not inside a load whose slot the ride's load runs on:
   * two loads would go on on one slot.
   */
  private async softly(ride: Ride, softTimeout: number): Promise<RideEnd | Answer> {
    const first = await ride.within(this.engine.runtime, softTimeout - this.waited());
    if (first !== 'soft') return first;
    const stale = await this.own.staleAnswer();
    if (!stale) return ride.end;
    ride.settle();
    return stale;
  }

  /** The answer, or undefined: another flight is needed. */
  private async conclude(end: RideEnd | Answer, leads: boolean): Promise<Answer | undefined> {
    if ('outcome' in end) return end;
    switch (end.kind) {
      case 'value': {
        const turn = turnToRead(this.engine, end.payload, this.request, this.arrivedAt);
        if (turn) await turn;
        return this.takeValue(end, leads);
      }
      case 'error':
        if (end.nature === 'answer') throw end.error;
        // The leader's policy kept the origin from being called, not this one's.
        if (!leads && end.nature === 'barred' && this.request.policy.onRedisDown === 'load') return undefined;
        return this.standIn(end.error, end.nature !== 'final');
      case 'resting': {
        const stale = await this.own.staleAnswer();
        this.heedsRest = false;
        return stale;
      }
      case 'late':
        return this.tooLate();
      case 'nothing':
        this.rejectedId = end.rejectedId || this.rejectedId;
        this.since ??= end.since;
        return undefined;
    }
  }

  private takeValue(landing: Extract<Landing, { kind: 'value' }>, leads: boolean): Answer | undefined {
    const { engine, request } = this;
    try {
      return readLanding(engine, landing, request, leads);
    } catch (error) {
      if (outcomeOf(landing, leads) === 'loaded') throw uncacheable(error, request.policy.where);
      // As good as absent.
      this.rejectedId = landing.id;
      return undefined;
    }
  }

  private async tooLate(): Promise<Answer | undefined> {
    const { engine, request } = this;
    const { where, waitTimeout, onWaitTimeout } = request.policy;
    const nested = this.inside !== undefined && this.waited() < waitTimeout;
    if (!nested) {
      const duration = this.waited();
      engine.counters.waitTimeouts += 1;
      tell(engine, request, 'wait.timeout', { duration });
      const stale = await this.own.staleAnswer();
      if (stale) return stale;
      if (onWaitTimeout === 'error') {
        const message = `${where}: waited ${Math.round(duration)} ms for another process or a slot (waitTimeout ${waitTimeout} ms).`;
        return this.standIn(new WaitTimeoutError(message, waitTimeout), false);
      }
    }
    const { flight, leads } = this.detached();
    return this.take(flight, leads);
  }

  /** A load past the store, which others who are past it share. */
  private detached(): { readonly flight: Flight; readonly leads: boolean } {
    return detachedFlightOf(this.engine, this.request, this.own.entry, this.inside);
  }

  /** A stale value, the fallback, or the error itself. */
  private async standIn(error: unknown, staleMay: boolean): Promise<Answer> {
    const { engine, request } = this;
    request.batch?.settle();
    if (error instanceof LoadRejectedError) {
      engine.counters.rejected += 1;
      tell(engine, request, 'rejected', { retryAfter: error.retryAfter });
    }
    const stale = staleMay ? await this.own.staleAnswer() : undefined;
    if (stale) return stale;
    const { fallback } = request.policy;
    if (!fallback) throw error;
    return { value: await fallback(error, ...request.args), outcome: 'fallback', ...UNSTORED };
  }

  private reentrant(): ReentrantLoadError {
    const { where } = this.request.policy;
    return new ReentrantLoadError(
      `${where}: this load waits, over other loads, for itself. Load the inner value without the cache.`,
    );
  }
}
