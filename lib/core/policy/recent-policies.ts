import type { AnyPolicy } from './resolve-policy.js';
import type { ResolvedPolicy } from './resolved-policy.js';

/** Policies remembered at most. */
const CAPACITY = 16;

interface Recent {
  readonly where: string;
  readonly given: AnyPolicy;
  readonly resolved: ResolvedPolicy;
}

/**
 * The policies last resolved. One that is written in the call is a new object each time, and nearly always says the same as
 * one of them.
 */
export class RecentPolicies {
  private readonly recent: Recent[] = [];
  private next = 0;

  find(policy: AnyPolicy, where: string): ResolvedPolicy | undefined {
    for (const each of this.recent)
      if (each.where === where && saysTheSame(policy, each.given)) return each.resolved;
    return undefined;
  }

  /** Keeps a copy of the policy: its owner may change it. In place of the oldest. */
  remember(policy: AnyPolicy, where: string, resolved: ResolvedPolicy): void {
    this.recent[this.next] = { where, given: { ...policy }, resolved };
    this.next = (this.next + 1) % CAPACITY;
  }
}

/** Own enumerable options, by identity. */
function saysTheSame(one: AnyPolicy, other: AnyPolicy): boolean {
  const [a, b] = [one, other] as readonly Readonly<Record<string, unknown>>[]; // compared by name
  if (a === undefined || b === undefined) return false;
  let count = 0;
  for (const name in a) {
    if (!Object.is(a[name], b[name])) return false;
    count += 1;
  }
  return count === Object.keys(b).length;
}
