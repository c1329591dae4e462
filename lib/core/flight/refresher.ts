import { earlyTags } from '../coherence/index.js';
import type { StoredEntry } from '../entry/index.js';
import { LoadRejectedError } from '../errors.js';
import { StoreFailure } from '../gate/index.js';
import type { LoadSlot } from '../load/index.js';
import type { Request } from '../request.js';
import { askForLease } from './ask-for-lease.js';
import { seal, type Engine } from './engine.js';
import { Flight, NOTHING } from './flight.js';
import { loadAndLand } from './load-flight.js';
import type { LoadTerms } from './settle.js';
import { RefreshMemory } from './refresh-memory.js';

/**
 * Refreshes entries in the background: one loader in the fleet, behind foreground loads, and never waiting for a lease. A
 * reader triggers it, by a stale hit with certainty, by a fresh one early and with some probability.
 */
export class Refresher {
  private readonly memory = new RefreshMemory();
  private stopped = false;

  constructor(private readonly engine: Engine) {}

  /** Starts a refresh of `entry`, unless one runs here or this process knows that it would be in vain. True if it did. */
  trigger(request: Request, entry: StoredEntry, reason: 'stale' | 'early'): boolean {
    const { engine } = this;
    const { key } = request;
    if (this.stopped || engine.foreground.get(key) || engine.refreshes.get(key)) return false;
    const now = engine.runtime.clock.now();
    if (reason === 'stale' && this.isBornStale(request, entry)) return false;
    if (!this.memory.mayAsk(key, entry.header.id, reason === 'early', now)) return false;
    if (reason === 'early')
      this.memory.remember(key, { entryId: entry.header.id, early: true, restUntil: now });
    const flight = new Flight(key, 'refresh');
    engine.refreshes.add(flight);
    engine.background.own(this.fly(flight, request, entry, reason));
    return true;
  }

  /** Its source lags by more than its ttl (`asOf`): asking it again and again would tell the same, so the fleet rests. */
  private isBornStale({ policy }: Request, { header }: StoredEntry): boolean {
    const loadedAt = header.loadStart + header.cost;
    if (header.bornAt + header.ttl >= loadedAt) return false;
    return this.engine.gate.store.now() < loadedAt + policy.failureBackoff;
  }

  /** An explicit change of the key ends what was known about it. */
  forget(request: Pick<Request, 'key'>): void {
    this.memory.forget(request.key);
  }

  /** No refresh starts any more. */
  stop(): void {
    this.stopped = true;
  }

  private async fly(
    flight: Flight,
    request: Request,
    entry: StoredEntry,
    reason: 'stale' | 'early',
  ): Promise<void> {
    const { engine } = this;
    try {
      flight.tags = earlyTags(request);
      const ticket = (request.batch ?? engine.guard).enter(request.policy, { background: true });
      flight.ticket = ticket;
      await this.attempt(flight, request, entry, reason, await ticket.slot);
    } catch (error) {
      // Shed, or the store is away: the next stale hit tries again.
      if (error instanceof LoadRejectedError || error instanceof StoreFailure) return;
      this.rest(request, entry, reason, request.policy.failureBackoff);
      throw error;
    } finally {
      seal(engine, flight);
      flight.land(NOTHING);
    }
  }

  private async attempt(
    flight: Flight,
    request: Request,
    entry: StoredEntry,
    reason: 'stale' | 'early',
    slot: LoadSlot,
  ): Promise<void> {
    const { engine } = this;
    const terms: LoadTerms = {
      slot,
      lease: undefined,
      reason,
      stale: entry,
      hasStale: true,
      parent: undefined,
      tags: flight.tags,
      rejectedId: '',
    };
    if (request.policy.coordinate !== 'fleet') return this.loadAlone(flight, request, entry, terms);
    const token = engine.runtime.random.token();
    try {
      // The script goes by the entry's own soft expiry.
      const isFreshThere = reason === 'early' || entry.softened;
      const rejectedId = isFreshThere ? entry.header.id : '';
      const question = {
        token,
        mode: 'refresh',
        willWait: false,
        rejectedId,
        hasStale: true,
        waitedOn: '',
      } as const;
      const reply = await askForLease(engine, request, question, engine.gate.budget());
      if (reply.code === 'owner' && slot.refusal(request.policy.where)) {
        // Its origin began to fail meanwhile.
        await engine.gate.release(request.key, { token, outcome: '' }).catch(() => false);
      } else if (reply.code === 'owner') {
        const lease = {
          token,
          leaseMs: request.policy.lease,
          grantedAt: reply.now,
        };
        return await loadAndLand(engine, flight, request, { ...terms, lease });
      }
      // Another process has refreshed it: what this one still shows is older.
      if (reply.code === 'hit') engine.reads.forget(request.key);
      if (reply.code === 'wait' || reply.code === 'resting' || reply.code === 'heldOff')
        this.rest(request, entry, reason, reply.ms);
    } finally {
      slot.release();
    }
  }

  /** Without a lease no marker tells the fleet to rest after a failure: at least this process does. */
  private async loadAlone(
    flight: Flight,
    request: Request,
    entry: StoredEntry,
    terms: LoadTerms,
  ): Promise<void> {
    const refused = terms.slot.refusal(request.policy.where);
    if (refused) {
      terms.slot.release();
      throw refused;
    }
    await loadAndLand(this.engine, flight, request, terms);
    const { failureBackoff } = request.policy;
    flight.onLanding(Infinity, (landing) => {
      if (landing.kind === 'error' && landing.nature !== 'answer')
        this.rest(request, entry, 'stale', failureBackoff);
    });
  }

  /** Others refresh it, or rest after a failure: asking again before they are done would tell nothing new. */
  private rest(request: Request, entry: StoredEntry, reason: 'stale' | 'early', ms: number): void {
    const restUntil = this.engine.runtime.clock.now() + Math.max(0, ms);
    this.memory.remember(request.key, { entryId: entry.header.id, early: reason === 'early', restUntil });
  }
}
