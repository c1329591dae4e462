import { CacheUnavailableError } from '../errors.js';
import { parseEntry, rejectedIdOf, type StoredEntry } from '../entry/index.js';
import type { LoadReason } from '../events/index.js';
import { StoreFailure, type Budget } from '../gate/index.js';
import type { Slot } from '../guard/index.js';
import type { ChainLink } from '../load/index.js';
import { readEndNote } from '../publish/index.js';
import type { Request } from '../request.js';
import type { AcquireReply } from '../store.js';
import { seal, tell, type Engine } from './engine.js';
import { restoreError } from './restore-error.js';
import { NOTHING, type Flight, type Landing } from './flight.js';
import { loadAndLand } from './load-flight.js';
import type { LoadTerms } from './settle.js';
import { Waiter } from './waiter.js';

/** What the flight's leader knows. */
export interface Departure {
  /** The stale entry that the leader holds and the load is to replace. */
  readonly stale: StoredEntry | undefined;
  /** The leader may be served that entry: the fleet's rest after failures binds it. */
  readonly hasStale: boolean;
  /** The entry found unusable. */
  readonly rejectedId: string;
  /** Only a load begun after this store time will do. Undefined: after the first answer of the store. */
  readonly since: number | undefined;
  /** What the leader's own read left of its time for the store. */
  readonly budget: Budget;
  /** The load around the leader. */
  readonly parent: ChainLink | undefined;
  readonly reason: LoadReason;
  /** Skips the store: waiting is over (`onWaitTimeout: 'load'`), or the store's answers lead nowhere. */
  readonly leaseless: boolean;
}

/** Flies until the flight has landed. Never rejects. */
export async function flyForeground(
  engine: Engine,
  flight: Flight,
  request: Request,
  departure: Departure,
): Promise<void> {
  try {
    await new ForegroundFlight(engine, flight, request, departure).fly();
  } catch (error) {
    seal(engine, flight);
    flight.land(error === DESERTED ? NOTHING : { kind: 'error', error, nature: 'failure' });
  }
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
    while (this.flight.phase !== 'sealed') {
      const slot = await this.slot();
      if (departure.leaseless || request.policy.coordinate !== 'fleet')
        return this.load(slot, departure.reason);
      await this.attempt(slot);
    }
  }

  /** A place in front of the origin; the lease is asked for only with one in hand. */
  private async slot(): Promise<Slot> {
    const { engine, flight, request, departure } = this;
    flight.phase = 'queued';
    const ticket = engine.guard.enter(request.policy.where, {
      background: false,
      parent: departure.parent?.slot,
    });
    flight.ticket = ticket;
    for (const lender of flight.lenders) ticket.borrowFrom(lender);
    flight.onDeserted = () => {
      if (!ticket.waiting) return;
      // Out of the map first: a caller who joined now would be turned away for those who left.
      seal(engine, flight);
      ticket.reject(DESERTED);
    };
    return ticket.slot;
  }

  /** Asks the store once and does what it says. */
  private async attempt(slot: Slot): Promise<void> {
    const { engine, request } = this;
    const waiter = new Waiter(engine, request.key);
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
    slot.release();
    this.since ??= reply.now;
    if (reply.code === 'wait') return this.wait(waiter, reply.token, reply.ms);
    waiter.stop();
    if (reply.code === 'hit') return this.takeFromStore((entry) => entry.header.softAt > reply.now);
    if (reply.code === 'outcome') return this.takeOutcome(reply.outcome);
    this.land({ kind: 'resting' });
  }

  private async acquire(token: string): Promise<AcquireReply> {
    const { engine, request, departure, flight } = this;
    const { gate, holder } = engine;
    if (flight.asked) this.budget = gate.budget();
    flight.asked = true;
    flight.phase = 'asking';
    return gate.acquire(
      request.key,
      {
        token,
        leaseMs: request.policy.lease,
        holder,
        mode: 'load',
        willWait: gate.store.pushUp(),
        rejectedId: departure.rejectedId,
        hasStale: departure.hasStale && flight.kind !== 'forced',
        waitedOn: this.waitedOn,
      },
      this.budget,
    );
  }

  private async loadUnderLease(slot: Slot, token: string, now: number): Promise<void> {
    if (this.flight.callers === 0) return this.stayOnGround(slot, token);
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

  /** Everybody left before the load began: nobody wants it. */
  private async stayOnGround(slot: Slot, token: string): Promise<void> {
    slot.release();
    this.land(NOTHING);
    await this.engine.gate.release(this.request.key, { token, outcome: '' }).catch(() => false);
  }

  private async load(slot: Slot, reason: LoadReason): Promise<void> {
    return loadAndLand(this.engine, this.flight, this.request, this.terms(slot, reason));
  }

  private terms(slot: Slot, reason: LoadReason): LoadTerms {
    const { stale, hasStale, parent } = this.departure;
    return { slot, lease: undefined, reason, stale, hasStale, parent };
  }

  private async withoutStore(slot: Slot, error: unknown): Promise<void> {
    const { policy } = this.request;
    if (!(error instanceof StoreFailure)) {
      slot.release();
      throw error;
    }
    if (policy.onRedisDown === 'load') return this.load(slot, 'redis_down');
    slot.release();
    const message = `${policy.where}: Redis can't be reached (${error.message}) and onRedisDown is 'error': the origin was not called.`;
    this.land({
      kind: 'error',
      error: new CacheUnavailableError(message, 1_000, { cause: error }),
      nature: 'barred',
    });
  }

  private async wait(waiter: Waiter, token: string, ms: number): Promise<void> {
    const { engine, flight, request } = this;
    const { clock } = engine.runtime;
    flight.phase = 'waiting';
    flight.onDeserted = () => waiter.desert();
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
    let bytes: Buffer | null;
    try {
      bytes = await engine.gate.read(request.key, this.budget);
    } catch (error) {
      return this.withoutStore(await this.slot(), error);
    }
    const entry = parseEntry(bytes, request.key);
    const good = entry !== undefined && isGood(entry) && !this.beganTooEarly(entry);
    const landing = good ? landingOfEntry(engine, entry, request) : undefined;
    this.land(landing ?? { kind: 'nothing', rejectedId: rejectedIdOf(bytes), since: this.since });
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

/** What an entry of the store is to those who waited for it; undefined when it can't be read. */
function landingOfEntry(engine: Engine, entry: StoredEntry, request: Request): Landing | undefined {
  const { header, payload } = entry;
  if (header.kind !== 'error')
    return { kind: 'value', payload, how: 'waited', id: header.id, bornAt: header.softAt - header.ttl };
  const error = restoreError(engine, entry, request);
  return error && { kind: 'error', error, nature: 'answer' };
}
