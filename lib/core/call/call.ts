import { LoadRejectedError, ReentrantLoadError, WaitTimeoutError } from '../errors.js';
import type { Budget, ReadAnswer } from '../gate/index.js';
import {
  detachedFlightOf,
  tell,
  type Engine,
  type Flight,
  type Landing,
  type Refresher,
} from '../flight/index.js';
import { wouldDeadlock, type ChainLink } from '../load/index.js';
import type { Outcome } from '../outcome.js';
import { uncacheable } from '../publish/index.js';
import type { Request } from '../request.js';
import { isEarlyDue, judge, readEntry, windowsOf, type Answer, type Reading } from './answers.js';
import { joinOrLead } from './join-or-lead.js';
import { Ride, type RideEnd } from './ride.js';

/** After so many flights that led nowhere the origin is asked without the store. */
const MAX_FLIGHTS = 8;

/**
 * One call, from its arrival to its answer: a hit decided on one read; else it joins or leads flights until one lands with
 * something for it; else its own stale value or its fallback stands in.
 */
export class Call {
  private readonly arrival: number;
  private readonly arrivedAt: number;
  private readonly budget: Budget;
  /** This call's own read: only that may stand in for a load. */
  private own: ReadAnswer | undefined;
  private hasRead = false;
  private rejectedId = '';
  private since: number | undefined;
  private heedsRest = true;
  private flights = 0;

  constructor(
    private readonly engine: Engine,
    private readonly refresher: Refresher,
    private readonly request: Request,
    private readonly inside: ChainLink | undefined,
  ) {
    this.arrival = engine.arrivals.next();
    this.arrivedAt = engine.runtime.clock.now();
    this.budget = engine.gate.budget();
  }

  async answer(): Promise<Answer> {
    const { engine, request } = this;
    const running = request.call.fresh ? undefined : engine.foreground.get(request.key);
    if (running === undefined) {
      await this.readOwn();
      const hit = this.hit();
      if (hit) return this.serve(hit);
    }
    engine.counters.misses += 1;
    tell(engine, request, 'miss', {});
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

  /** Reads the store for this call. A store that fails has told nothing. */
  private async readOwn(): Promise<void> {
    const { engine, request } = this;
    this.hasRead = true;
    this.own = await engine.reads.read(request.key, this.budget).catch(() => undefined);
  }

  /** The answer of this call's own read, if it may be served as it is. */
  private hit(): Reading | undefined {
    const { engine, request, refresher } = this;
    const entry = this.own?.entry;
    if (request.call.fresh) this.rejectedId = this.own?.foundId ?? '';
    if (!entry || request.call.fresh) return undefined;
    const state = judge(engine, entry, request);
    if (state !== 'fresh' && state !== 'stale') return undefined;
    const reading = readEntry(engine, entry, request, state);
    if (!reading) {
      this.rejectedId = entry.header.id;
      return undefined;
    }
    if (state === 'stale') refresher.trigger(request, entry, 'stale');
    const early =
      state === 'fresh' && isEarlyDue(engine, entry, request) && refresher.trigger(request, entry, 'early');
    return early && 'answer' in reading ? { answer: { ...reading.answer, outcome: 'early' } } : reading;
  }

  private serve(hit: Reading): Answer {
    const { engine, request } = this;
    if ('error' in hit) {
      engine.counters.outcomes.negative += 1;
      tell(engine, request, 'hit', { outcome: 'negative', age: 0, staleFor: 0 });
      throw hit.error;
    }
    const { outcome, age, staleFor } = hit.answer;
    tell(engine, request, 'hit', { outcome, age, staleFor });
    return hit.answer;
  }

  private async fly(): Promise<Answer> {
    for (;;) {
      this.flights += 1;
      const { flight, leads } = joinOrLead(this.engine, this.request, {
        arrival: this.arrival,
        stale: this.own?.entry,
        hasStale: this.heedsRest && this.holdsStale(),
        rejectedId: this.rejectedId,
        since: this.since,
        budget: this.flights === 1 ? this.budget : this.engine.gate.budget(),
        parent: this.inside,
        leaseless: this.flights > MAX_FLIGHTS,
      });
      const ride = this.board(flight);
      if (!ride) return this.standIn(this.reentrant(), false);
      const answer = await this.conclude(await this.softly(ride), leads);
      if (answer) return answer;
    }
  }

  /** Undefined: waiting for this flight would be waiting for ourselves. */
  private board(flight: Flight): Ride | undefined {
    const { engine, request, inside } = this;
    if (inside && wouldDeadlock(inside, flight)) return undefined;
    if (flight.ticket?.waiting === true) {
      engine.guard.promote(flight.ticket);
      // We hold a slot and wait for a load that queues for one.
      if (inside?.slot) flight.ticket.borrowFrom(inside.slot);
    }
    const ride = new Ride(flight, inside, flight.landingFor(this.arrival));
    if (request.call.signal) ride.abortBy(request.call.signal);
    const waited = engine.runtime.clock.now() - this.arrivedAt;
    ride.limitWait(engine.runtime, request.policy.waitTimeout - waited);
    return ride;
  }

  /** Rides on; past `softTimeout` this call's own old value ends its ride. */
  private async softly(ride: Ride): Promise<RideEnd | Answer> {
    const { engine, request } = this;
    const { softTimeout } = request.policy;
    if (softTimeout === undefined || windowsOf(request).staleIfError === 0) return ride.end;
    const waited = engine.runtime.clock.now() - this.arrivedAt;
    let stop = (): void => undefined;
    const soft = new Promise<'soft'>((resolve) => {
      stop = engine.runtime.timers.after(Math.max(0, softTimeout - waited), () => resolve('soft'));
    });
    try {
      const first = await Promise.race([ride.end, soft]);
      if (first !== 'soft') return first;
    } finally {
      stop();
    }
    const stale = await this.staleAnswer();
    if (!stale) return ride.end;
    ride.settle();
    return stale;
  }

  /** The answer, or undefined: another flight is needed. */
  private async conclude(end: RideEnd | Answer, leads: boolean): Promise<Answer | undefined> {
    if ('outcome' in end) return end;
    switch (end.kind) {
      case 'value':
        return this.take(end, leads);
      case 'error':
        if (end.nature === 'answer') throw end.error;
        return this.standIn(end.error, end.nature === 'failure');
      case 'resting': {
        const stale = await this.staleAnswer();
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

  private take(landing: Extract<Landing, { kind: 'value' }>, leads: boolean): Answer | undefined {
    const { engine, request } = this;
    const outcome: Outcome = landing.how === 'waited' ? 'waited' : leads ? 'loaded' : 'joined';
    const now = engine.gate.store.now();
    try {
      return {
        value: landing.payload.read(request.policy),
        outcome,
        age: Math.max(0, now - landing.bornAt),
        staleFor: 0,
      };
    } catch (error) {
      if (landing.how === 'loaded') throw uncacheable(error, request.policy.where);
      this.rejectedId = landing.id;
      return undefined;
    }
  }

  private async tooLate(): Promise<Answer | undefined> {
    const { engine, request } = this;
    const duration = engine.runtime.clock.now() - this.arrivedAt;
    engine.counters.waitTimeouts += 1;
    tell(engine, request, 'wait.timeout', { duration });
    const stale = await this.staleAnswer();
    if (stale) return stale;
    if (request.policy.onWaitTimeout === 'error') {
      const { where, waitTimeout } = request.policy;
      const message = `${where}: waited ${Math.round(duration)} ms for another process or a slot (waitTimeout ${waitTimeout} ms).`;
      return this.standIn(new WaitTimeoutError(message, waitTimeout), false);
    }
    const { flight, leads } = detachedFlightOf(engine, request, this.own?.entry, this.inside);
    const ride = new Ride(flight, this.inside, flight.landingFor(this.arrival));
    if (request.call.signal) ride.abortBy(request.call.signal);
    return this.conclude(await ride.end, leads);
  }

  /** A stale value, the fallback, or the error itself. */
  private async standIn(error: unknown, staleMay: boolean): Promise<Answer> {
    const { engine, request } = this;
    if (error instanceof LoadRejectedError) {
      engine.counters.rejected += 1;
      tell(engine, request, 'rejected', { retryAfter: error.retryAfter });
    }
    const stale = staleMay ? await this.staleAnswer() : undefined;
    if (stale) return stale;
    const { fallback } = request.policy;
    if (!fallback) throw error;
    return { value: await fallback(error, ...request.args), outcome: 'fallback', age: 0, staleFor: 0 };
  }

  /** This call's own old value, if its policy lets it stand in for a load. Reads now if it only joined so far. */
  private async staleAnswer(): Promise<Answer | undefined> {
    const { engine, request } = this;
    if (windowsOf(request).staleIfError === 0) return undefined;
    if (!this.hasRead) await this.readOwn();
    const entry = this.own?.entry;
    if (!entry || !this.holdsStale()) return undefined;
    const reading = readEntry(
      engine,
      entry,
      request,
      judge(engine, entry, request) === 'fresh' ? 'fresh' : 'stale',
    );
    return reading && 'answer' in reading ? reading.answer : undefined;
  }

  private holdsStale(): boolean {
    const entry = this.own?.entry;
    if (!entry || this.request.call.fresh) return false;
    return judge(this.engine, entry, this.request) !== 'expired' && entry.header.kind === 'value';
  }

  private reentrant(): ReentrantLoadError {
    const { where } = this.request.policy;
    return new ReentrantLoadError(
      `${where}: this load waits, over other loads, for itself. Load the inner value without the cache.`,
    );
  }
}
