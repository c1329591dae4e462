import { CacheUnavailableError, LoadTimeoutError } from '../errors.js';
import type { Baseline } from '../coherence/index.js';
import type { StoredEntry } from '../entry/index.js';
import type { LoadReason } from '../events/index.js';
import { awaitedBy, LeaseKeeper, runLoad, type LoadResult } from '../load/index.js';
import { packedPlan, packWithin, planFor, type Plan } from '../publish/index.js';
import type { Request } from '../request.js';
import { show } from '../show.js';
import { seal, tell, type Engine } from './engine.js';
import { NOTHING, type Flight, type Landing } from './flight.js';
import { giveBack, settle, type LoadTerms } from './settle.js';
import { verdictOn } from './verdict.js';

/** Runs the load of a flight, publishes what it gave, and lands the flight. Never rejects. */
export async function loadAndLand(
  engine: Engine,
  flight: Flight,
  request: Request,
  terms: LoadTerms,
): Promise<void> {
  const { slot, reason } = terms;
  const guarded = await begin(engine, request, terms);
  const { keeper, stale } = guarded;
  flight.phase = 'loading';
  flight.begunAt = engine.arrivals.next();
  engine.counters.loads.started += 1;
  tell(engine, request, 'load.start', { reason, leased: terms.lease !== undefined });
  const load = runLoad(request, {
    runtime: engine.runtime,
    chain: engine.chain,
    outside: (run) => engine.deferrals.outside(run),
    slot,
    parent: terms.parent,
    readStale: () => staleValueOf(stale, request),
    onBegin: (link) => {
      flight.link = link;
      slot.begin(() => awaitedBy(link));
    },
    onLetGo: () => seal(engine, flight),
  });
  const onDeserted = (): void => engine.background.own(abandon(engine, flight, request, keeper, load.abort));
  flight.onDeserted = onDeserted;
  if (flight.kind !== 'refresh' && flight.callers === 0) onDeserted();
  engine.aborts.add(load.abort);
  const result = await load.result;
  engine.aborts.delete(load.abort);
  keeper?.stop();
  // Sealed before the commit is sent: a caller whose own read missed after that was invalidated after it.
  seal(engine, flight);
  slot.release();
  count(engine, flight, request, reason, result);
  await conclude(engine, flight, request, terms, result, guarded);
}

/** What stands around a load. */
interface Guarded {
  readonly keeper: LeaseKeeper | undefined;
  readonly baseline: Baseline;
  /** The entry it replaces, if that may still be seen. */
  readonly stale: StoredEntry | undefined;
}

/** Nothing will be stored. */
const NO_BASELINE: Baseline = { epoch: 0, tags: [], isBarred: true };
/** A tag must outlive a late renewal of its load's lease, ms. */
const TAG_GRACE = 2_000;

/** Keeps the lease from now on, and takes down what the value will depend on: before the load begins. */
async function begin(engine: Engine, request: Request, terms: LoadTerms): Promise<Guarded> {
  const { baselines } = engine;
  const { lease, tags, stale } = terms;
  if (lease === undefined) {
    if (request.policy.coordinate === 'fleet') return { keeper: undefined, baseline: NO_BASELINE, stale };
    await baselines.prepare();
    const baseline = await baselines.take(request, tags, request.policy.loadTimeout + TAG_GRACE);
    return { keeper: undefined, baseline, stale };
  }
  const lifeMs = 2 * lease.leaseMs + TAG_GRACE;
  let baseline = NO_BASELINE;
  const onLost = (): void => {
    engine.counters.leasesLost += 1;
    tell(engine, request, 'lease.lost', {});
  };
  const keeper = new LeaseKeeper(request.key, lease, engine.gate, engine.runtime, onLost, () => {
    if (baseline.tags.length > 0) engine.background.own(baselines.keep(baseline, lifeMs));
  });
  const [taken, current] = await Promise.all([
    baselines.take(request, tags, lifeMs),
    stale && currentOf(engine, request, stale),
  ]);
  baseline = taken;
  return { keeper, baseline, stale: current };
}

/** The entry as it stands under the lease: since it was read it may have been invalidated, and would come back as `ctx.stale`. */
async function currentOf(
  engine: Engine,
  request: Request,
  stale: StoredEntry,
): Promise<StoredEntry | undefined> {
  try {
    const { entry } = await engine.reads.readAlone(request, engine.gate.budget());
    return entry?.header.id === stale.header.id ? entry : undefined;
  } catch {
    return undefined;
  }
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
  complain(engine, flight, request, error);
}

/** A refresh that came to nothing: its callers were served a stale value, nobody else would hear of it. */
function complain(engine: Engine, flight: Flight, request: Request, error: unknown): void {
  if (flight.kind !== 'refresh') return;
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
  { keeper, baseline, stale }: Guarded,
): Promise<void> {
  if (result.kind === 'timeout' || result.kind === 'aborted') {
    terms.slot.report(verdictOn(result));
    flight.land({ kind: 'error', error: abandonedError(request, result.kind), nature: 'failure' });
    // An empty outcome: one of those who wait elsewhere takes over.
    if (terms.lease) await giveBack(engine, request, terms, '', result.kind === 'timeout');
    return;
  }
  const plan = planFor(result, request, stale, terms.tags, engine.planning);
  terms.slot.report(verdictOn(result, plan));
  if (plan.kind === 'error' && plan.nature === 'final') complain(engine, flight, request, plan.error);
  const now = engine.gate.store.now();
  const isKept = !baseline.isBarred && (terms.lease !== undefined || request.policy.coordinate !== 'fleet');
  const landing = landingOf(plan, now, isKept);
  const start = terms.lease?.grantedAt ?? now - result.took;
  const loaded = { start, end: now, took: Math.max(0, now - start) };
  const ms = terms.lease ? packWithin(terms.lease) : engine.gate.writeBudget;
  // Before anybody lands: a call made after this load must not be sent before its publication.
  const packing = isKept ? packedPlan(plan, request.policy, engine.packing, ms) : undefined;
  const packed = packing ? await packing : plan;
  const settled = settle(engine, request, terms, packed, loaded, { baseline, lost: keeper?.lost === true });
  // Its callers have the new value now; the next read after the publication makes a copy of it.
  engine.reads.forget(request.key);
  flight.landEarly(landing);
  flight.land((await settled) ? landing : NOTHING);
}

function abandonedError({ policy }: Request, kind: 'timeout' | 'aborted'): Error {
  const { where, loadTimeout } = policy;
  // Only a shutdown aborts a load that somebody waits for.
  if (kind === 'aborted')
    return new CacheUnavailableError(`${where}: the application shuts down, the load was abandoned.`, 1_000);
  const message = `${where}: the load did not end within ${loadTimeout} ms (loadTimeout) and was abandoned.`;
  return new LoadTimeoutError(message, loadTimeout);
}

function landingOf(plan: Plan, now: number, isKept: boolean): Landing {
  if (plan.kind === 'error') return { kind: 'error', error: plan.error, nature: plan.nature };
  const bornAt = Math.min(plan.asOf ?? now, now);
  const softAt = isKept && plan.store ? bornAt + plan.store.life.ttl : 0;
  return { kind: 'value', payload: plan.payload, how: 'loaded', id: '', bornAt, softAt };
}
