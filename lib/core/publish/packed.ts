import type { Packing } from '../entry/index.js';
import type { ResolvedPolicy } from '../policy/index.js';
import type { Draft, Plan } from './plan.js';

/**
 * The draft with its payload compressed as the policy says, within `ms`. Undefined: it stays as it is, and nothing is waited
 * for. Never rejects.
 */
export function packedDraft(
  draft: Draft,
  policy: ResolvedPolicy,
  packing: Packing,
  ms: number,
): Promise<Draft> | undefined {
  const { bytes } = draft.payload;
  if (!packing.wants(policy, bytes)) return undefined;
  return packing.pack(bytes, policy, ms).then((atRest) => ({ ...draft, atRest }));
}

/** The same for a plan. What is kept lies in the store already. */
export function packedPlan(
  plan: Plan,
  policy: ResolvedPolicy,
  packing: Packing,
  ms: number,
): Promise<Plan> | undefined {
  const { store } = plan;
  if (store === undefined || store.kept) return undefined;
  return packedDraft(store, policy, packing, ms)?.then((packed) => ({ ...plan, store: packed }));
}
