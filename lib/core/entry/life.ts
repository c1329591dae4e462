import type { ResolvedPolicy } from '../policy/index.js';
import type { EntryKind } from './header.js';

/** A hundred years: what fits into the wire format's 13 digits of epoch ms, and into no lifetime. */
const LONGEST = 100 * 365 * 24 * 3_600_000;

/** The lives of one write, ms. */
export interface Life {
  /** Soft life: fresh for this long. */
  readonly ttl: number;
  /** Life in the store: the soft life and the longer stale window. */
  readonly hard: number;
}

/**
 * Draws the lives of one write: `ttl` shortened by jitter, so that entries written together do not expire together and an
 * upper bound stays one. Undefined: nothing is to be stored.
 * @param random uniform in [0, 1)
 */
export function drawLife(
  kind: EntryKind,
  ttl: number,
  policy: ResolvedPolicy,
  random: number,
): Life | undefined {
  const soft = kind === 'value' ? ttl : Math.min(policy.negativeTtl, ttl);
  if (!(soft > 0)) return undefined;
  return drawFrom(Math.min(soft, LONGEST), kind, policy, random);
}

function drawFrom(soft: number, kind: EntryKind, policy: ResolvedPolicy, random: number): Life {
  const cut = 'share' in policy.jitter ? soft * policy.jitter.share : Math.min(policy.jitter.upTo, soft);
  const drawn = Math.max(1, Math.ceil(soft - cut * random));
  const window = kind === 'value' ? Math.max(policy.stale, policy.staleIfError) : 0;
  return { ttl: drawn, hard: Math.min(drawn + window, LONGEST) };
}
