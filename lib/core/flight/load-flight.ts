import { LoadTimeoutError } from '../errors.js';
import type { StoredEntry } from '../entry/index.js';
import type { LoadReason } from '../events/index.js';
import type { Slot } from '../guard/index.js';
import { LeaseKeeper, runLoad, type ChainLink, type Lease, type LoadResult } from '../load/index.js';
import { planFor, writeEndNote, type Plan } from '../publish/index.js';
import type { Request } from '../request.js';
import { show } from '../show.js';
import { seal, tell, type Engine } from './engine.js';
import { NOTHING, type Flight, type Landing } from './flight.js';

/** Longest rest after failed refreshes, ms. */
const MAX_BACKOFF = 30_000;

/** The conditions under which a flight's load runs. */
export interface LoadTerms {
  readonly slot: Slot;
  /** Without a lease nothing is published. */
  readonly lease: Lease | undefined;
  readonly reason: LoadReason;
  /** The entry it is to replace, as the load's `ctx.stale`. */
  readonly stale: StoredEntry | undefined;
  /** Callers hold a usable stale value: a failure makes the fleet rest. */
  readonly hasStale: boolean;
  readonly parent: ChainLink | undefined;
}

/** Runs the load of a flight, publishes what it gave, and lands the flight. Never rejects. */
export async function loadAndLand(
  engine: Engine,
  flight: Flight,
  request: Request,
  terms: LoadTerms,
): Promise<void> {
  const { lease, slot, reason, stale } = terms;
  const keeper = lease && keep(engine, request, lease);
  flight.phase = 'loading';
  flight.begunAt = engine.arrivals.next();
  engine.counters.loads.started += 1;
  tell(engine, request, 'load.start', { reason, leased: lease !== undefined });
  const load = runLoad(request, {
    runtime: engine.runtime,
    chain: engine.chain,
    slot,
    parent: terms.parent,
    readStale: () => staleValueOf(stale, request),
    onBegin: (link) => {
      flight.link = link;
    },
  });
  flight.onDeserted = () => engine.background.own(abandon(engine, flight, request, keeper, load.abort));
  if (flight.kind !== 'refresh' && flight.callers === 0) flight.onDeserted();
  engine.aborts.add(load.abort);
  const result = await load.result;
  engine.aborts.delete(load.abort);
  keeper?.stop();
  // Sealed before the commit is sent: a caller whose own read missed after that was invalidated after it.
  seal(engine, flight);
  slot.release();
  count(engine, flight, request, reason, result);
  await conclude(engine, flight, request, terms, result, keeper);
}

function keep(engine: Engine, request: Request, lease: Lease): LeaseKeeper {
  return new LeaseKeeper(request.key, lease, engine.gate, engine.runtime, () => {
    engine.counters.leasesLost += 1;
    tell(engine, request, 'lease.lost', {});
  });
}

/** What the load may see of the entry it replaces. An unreadable one is as good as absent. */
function staleValueOf(stale: StoredEntry | undefined, { policy }: Request): { value: unknown } | undefined {
  if (stale?.header.kind !== 'value') return undefined;
  try {
    return { value: stale.payload.read({ ...policy, shared: false }) };
  } catch {
    return undefined;
  }
}

/** The last caller has gone: `abandon: 'abort'` ends the load, unless another process waits for it. */
async function abandon(
  engine: Engine,
  flight: Flight,
  request: Request,
  keeper: LeaseKeeper | undefined,
  abort: (reason: unknown) => void,
): Promise<void> {
  if (request.policy.abandon !== 'abort' || flight.kind === 'refresh') return;
  await keeper?.check();
  if (flight.callers > 0 || keeper?.contended === true) return;
  // Nobody joins an aborting flight.
  seal(engine, flight);
  abort(new DOMException('The last caller has gone.', 'AbortError'));
}

function count(
  engine: Engine,
  flight: Flight,
  request: Request,
  reason: LoadReason,
  result: LoadResult,
): void {
  const duration = result.took;
  if (result.kind === 'value' || result.kind === 'notModified') {
    engine.counters.loads.succeeded += 1;
    tell(engine, request, 'load.end', { reason, duration });
    return;
  }
  engine.counters.loads.failed += 1;
  const error = result.kind === 'error' ? result.error : abandonedError(request, result.kind);
  tell(engine, request, 'load.error', { reason, duration, error });
  if (flight.kind !== 'refresh') return;
  // Its callers were served a stale value: nobody else would hear of it.
  const { where } = request.policy;
  engine.planning.advice.sometimes(
    where,
    () => `${where}: a background refresh failed with ${show(error)}. Stale values are served.`,
  );
}

async function conclude(
  engine: Engine,
  flight: Flight,
  request: Request,
  terms: LoadTerms,
  result: LoadResult,
  keeper: LeaseKeeper | undefined,
): Promise<void> {
  if (result.kind === 'timeout' || result.kind === 'aborted') {
    flight.land({ kind: 'error', error: abandonedError(request, result.kind), nature: 'failure' });
    // An empty outcome: one of those who wait elsewhere takes over.
    if (terms.lease) await giveBack(engine, request, terms, '', result.kind === 'timeout');
    return;
  }
  const plan = planFor(result, request, terms.stale, engine.planning);
  const now = engine.gate.store.now();
  const landing = landingOf(plan, now);
  const settled = settle(engine, request, terms, plan, result.took, now, keeper);
  flight.landEarly(landing);
  flight.land((await settled) ? landing : NOTHING);
}

function abandonedError({ policy }: Request, kind: 'timeout' | 'aborted'): Error {
  const { where, loadTimeout } = policy;
  if (kind === 'aborted') return new DOMException(`${where}: the load was abandoned.`, 'AbortError');
  const message = `${where}: the load did not end within ${loadTimeout} ms (loadTimeout) and was abandoned.`;
  return new LoadTimeoutError(message, loadTimeout);
}

function landingOf(plan: Plan, now: number): Landing {
  if (plan.kind === 'error') return { kind: 'error', error: plan.error, nature: plan.nature };
  return { kind: 'value', payload: plan.payload, how: 'loaded', id: '', bornAt: now };
}

/**
 * Tells the store. False: the lease had been revoked, so whoever came after the load began must not take its value.
 * Without an answer the value is delivered: nothing shows that it was revoked.
 */
async function settle(
  engine: Engine,
  request: Request,
  terms: LoadTerms,
  plan: Plan,
  cost: number,
  now: number,
  keeper: LeaseKeeper | undefined,
): Promise<boolean> {
  const { lease } = terms;
  const { store: draft } = plan;
  if (lease === undefined) {
    const unfenced = request.policy.coordinate !== 'fleet' && draft !== undefined;
    if (unfenced)
      engine.background.own(
        engine.publisher.writeUnfenced(request, draft, engine.runtime.random.token(), cost, now),
      );
    // Where the store can be reached, only a lease proves that nothing was invalidated since the load began.
    return terms.reason === 'redis_down' || request.policy.coordinate !== 'fleet';
  }
  if (keeper?.lost === true) {
    engine.publisher.tell(request, 'fenced');
    return false;
  }
  if (draft) return (await engine.publisher.publish(request, lease, draft, cost, now)) !== 'fenced';
  if (plan.kind === 'value') engine.publisher.tell(request, 'skipped');
  return giveBack(
    engine,
    request,
    terms,
    endNoteOf(engine, request, plan),
    plan.kind === 'error' && plan.nature === 'failure',
  );
}

function endNoteOf(engine: Engine, request: Request, plan: Plan): string {
  if (plan.kind === 'value' || plan.nature === 'final') return writeEndNote({ kind: 'uncacheable' });
  return writeEndNote({ kind: 'error', error: engine.errors.pack(plan.error, request.policy.errors) });
}

/** Gives the lease back without an entry. False: it was no longer ours. */
async function giveBack(
  engine: Engine,
  request: Request,
  terms: LoadTerms,
  outcome: string,
  failed: boolean,
): Promise<boolean> {
  const { failureBackoff } = request.policy;
  const rest = failed && terms.hasStale && failureBackoff > 0;
  const scale = 1 - 0.1 * engine.runtime.random.next();
  try {
    return await engine.gate.release(request.key, {
      // Only loads with a lease come here.
      token: (terms.lease as Lease).token,
      outcome,
      ...(rest && { backoff: { baseMs: failureBackoff, capMs: MAX_BACKOFF, scale } }),
    });
  } catch {
    return true;
  }
}
