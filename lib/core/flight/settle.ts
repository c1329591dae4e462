import type { StoredEntry } from '../entry/index.js';
import type { Baseline } from '../coherence/index.js';
import type { LoadReason } from '../events/index.js';
import type { ChainLink, Lease, LoadSlot } from '../load/index.js';
import { writeEndNote, type Draft, type Loaded, type Plan } from '../publish/index.js';
import type { Request } from '../request.js';
import type { Engine } from './engine.js';

/** Longest rest after failed refreshes, ms. */
const MAX_BACKOFF = 30_000;

/** The conditions under which a flight's load runs. */
export interface LoadTerms {
  readonly slot: LoadSlot;
  /** Without a lease nothing is published. */
  readonly lease: Lease | undefined;
  readonly reason: LoadReason;
  /** The entry it is to replace, as the load's `ctx.stale`. */
  readonly stale: StoredEntry | undefined;
  /** Callers hold a usable stale value: a failure makes the fleet rest. */
  readonly hasStale: boolean;
  readonly parent: ChainLink | undefined;
  /** Ids of the tags known before the load. */
  readonly tags: readonly string[];
  /** The entry that is replaced because it was unusable; empty: none. */
  readonly rejectedId: string;
}

/**
 * Tells the store. False: the lease had been revoked, so whoever came after the load began must not take its value.
 * Without an answer the value is delivered: nothing shows that it was revoked.
 */
export async function settle(
  engine: Engine,
  request: Request,
  terms: LoadTerms,
  plan: Plan,
  loaded: Loaded,
  { baseline, lost }: { readonly baseline: Baseline; readonly lost: boolean },
): Promise<boolean> {
  const { lease } = terms;
  const draft = baseline.isBarred ? undefined : plan.store;
  if (lease === undefined) {
    if (draft) writeUnfenced(engine, request, draft, baseline, loaded);
    // Where the store can be reached, only a lease proves that nothing was invalidated since the load began.
    return terms.reason === 'redis_down' || request.policy.coordinate !== 'fleet';
  }
  if (lost) {
    if (draft) engine.publisher.tell(request, 'fenced');
    return false;
  }
  if (draft) {
    const ground = { baseline, rejectedId: terms.rejectedId };
    const result = await engine.publisher.publish(request, lease, draft, ground, loaded);
    // A source that lags behind what is stored already: asking it again at once would tell the same.
    if (result === 'older') await giveBack(engine, request, terms, '', true);
    return result === 'stored' || result === 'unknown';
  }
  if (plan.kind === 'value') engine.publisher.tell(request, 'skipped');
  const isAnswer = plan.kind === 'value' || plan.nature === 'answer';
  // A failure is nobody's old value.
  const holds = isAnswer ? stillHolds(engine, request, plan, baseline) : true;
  // Waiters elsewhere can't tell whether the tags of an answer still stand: one of them asks again.
  const isDubious = plan.kind === 'error' && plan.nature === 'answer' && terms.tags.length > 0;
  const note = isDubious ? '' : endNoteOf(engine, request, plan);
  const [isOurs, isCurrent] = await Promise.all([
    giveBack(engine, request, terms, note, isFailure(plan, terms)),
    holds,
  ]);
  return isOurs && isCurrent;
}

/** Whether what an unstored answer depends on is as it was before its load. */
async function stillHolds(
  engine: Engine,
  request: Request,
  plan: Plan,
  baseline: Baseline,
): Promise<boolean> {
  if (baseline.isBarred || (plan.kind === 'value' && plan.hasLateTags)) return false;
  try {
    return await engine.baselines.holds(request, baseline, 0);
  } catch {
    return true;
  }
}

function writeUnfenced(
  engine: Engine,
  request: Request,
  draft: Draft,
  baseline: Baseline,
  loaded: Loaded,
): void {
  if (request.policy.coordinate === 'fleet') return;
  const { background, publisher, runtime } = engine;
  background.own(publisher.writeUnfenced(request, draft, runtime.random.token(), baseline, loaded));
}

/** Whether refreshes should rest. An uncacheable value fails its refresh; a foreground caller hears of it each time. */
function isFailure(plan: Plan, { reason }: LoadTerms): boolean {
  if (plan.kind === 'value') return false;
  return plan.nature === 'failure' || (plan.nature === 'final' && (reason === 'stale' || reason === 'early'));
}

function endNoteOf(engine: Engine, request: Request, plan: Plan): string {
  if (plan.kind === 'value' || plan.nature === 'final') return writeEndNote({ kind: 'uncacheable' });
  return writeEndNote({
    kind: 'error',
    error: engine.errors.pack(plan.error, request.policy.errors),
    answer: plan.nature === 'answer',
  });
}

/** Gives the lease back without an entry. False: it was no longer ours. */
export async function giveBack(
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
