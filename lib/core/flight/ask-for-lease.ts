import type { Budget } from '../gate/index.js';
import type { ResolvedPolicy } from '../policy/index.js';
import type { Request } from '../request.js';
import type { AcquireReply, AcquireRequest } from '../store.js';
import type { Engine } from './engine.js';

/** What differs from one asker to the other. */
export type LeaseQuestion = Omit<AcquireRequest, 'leaseMs' | 'holder'>;

/**
 * Asks for the right to load. Before it the entry's version is announced, so that every change finds the entry; along with it
 * the epochs are asked for: an owner knows what was cleared before its load begins.
 * @throws StoreFailure
 */
export async function askForLease(
  engine: Engine,
  { key, name, policy }: Request,
  question: LeaseQuestion,
  budget: Budget,
): Promise<AcquireReply> {
  const { gate, holder, variants, baselines } = engine;
  await variants.cover(name, key.variant, lifeOf(policy), budget);
  const prepared = baselines.prepare();
  const reply = await gate.acquire(key, { ...question, leaseMs: policy.lease, holder }, budget);
  if (reply.code === 'owner') await prepared;
  return reply;
}

/** How long the announcement must last: until the load's entry is gone. */
function lifeOf({ ttl = 0, stale, staleIfError, loadTimeout }: ResolvedPolicy): number {
  return loadTimeout + ttl + Math.max(stale, staleIfError);
}
