import type { StoredEntry } from '../entry/index.js';
import type { LoadReason } from '../events/index.js';
import type { Slot } from '../guard/index.js';
import type { ChainLink, Lease } from '../load/index.js';
import { writeEndNote, type Draft, type Plan } from '../publish/index.js';
import type { Request } from '../request.js';
import type { Engine } from './engine.js';

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

/**
 * Tells the store. False: the lease had been revoked, so whoever came after the load began must not take its value.
 * Without an answer the value is delivered: nothing shows that it was revoked.
 */
export async function settle(
  engine: Engine,
  request: Request,
  terms: LoadTerms,
  plan: Plan,
  { cost, now, lost }: { readonly cost: number; readonly now: number; readonly lost: boolean },
): Promise<boolean> {
  const { lease } = terms;
  const { store: draft } = plan;
  if (lease === undefined) {
    if (draft) writeUnfenced(engine, request, draft, cost, now);
    // Where the store can be reached, only a lease proves that nothing was invalidated since the load began.
    return terms.reason === 'redis_down' || request.policy.coordinate !== 'fleet';
  }
  if (lost) {
    if (draft) engine.publisher.tell(request, 'fenced');
    return false;
  }
  if (draft) return (await engine.publisher.publish(request, lease, draft, cost, now)) !== 'fenced';
  if (plan.kind === 'value') engine.publisher.tell(request, 'skipped');
  return giveBack(engine, request, terms, endNoteOf(engine, request, plan), isFailure(plan, terms));
}

function writeUnfenced(engine: Engine, request: Request, draft: Draft, cost: number, now: number): void {
  if (request.policy.coordinate === 'fleet') return;
  const { background, publisher, runtime } = engine;
  background.own(publisher.writeUnfenced(request, draft, runtime.random.token(), cost, now));
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
