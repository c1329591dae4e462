import { ConfigurationError } from '../errors.js';
import type { Key } from '../keys/index.js';
import type { AnyPolicy, Policy, ResolvedPolicy } from '../policy/index.js';
import { show } from '../show.js';
import { wholeNumber } from '../whole-number.js';

/** What a call for many ids takes beside the policy of each entry. */
export interface ManyOptions<K = unknown> {
  /** The key of an id's entry, as `getOrLoad` takes it: an entry can be asked for either way. */
  readonly key: (id: K) => Key;
  /** Ids in one call of `loadMany` at most; more of them are loaded by several calls at once. @default 500 */
  readonly maxBatch?: number;
}

/** How the entries of a call for many ids live. `A` of the policy are the parts of the key. */
export type ManyPolicy<K, T> = Policy<T> & ManyOptions<K>;

export type AnyManyPolicy = AnyPolicy & ManyOptions<never>;

const MAX_BATCH = 500;

/** @throws ConfigurationError naming the option and the value received */
export function splitManyPolicy(
  given: AnyManyPolicy,
  where: string,
): { readonly keyOf: (id: unknown) => Key; readonly maxBatch: number; readonly policy: AnyPolicy } {
  if (typeof given !== 'object' || given === null) {
    throw new ConfigurationError(
      `${where}: a policy is an object such as { key: (id) => ['product', id], ttl: '60s' }, received ${show(given)}.`,
    );
  }
  const { key, maxBatch, ...policy } = given;
  if (typeof key !== 'function') {
    throw new ConfigurationError(
      `${where}: key is a function such as (id) => ['product', id], received ${show(key)}.`,
    );
  }
  return {
    // It is called with the ids it was declared for.
    keyOf: key as (id: unknown) => Key,
    maxBatch: wholeNumber(maxBatch, `${where}: maxBatch`, MAX_BATCH, 1),
    policy,
  };
}

/** An id that is absent is "not found", whatever the policy's functions say of values: they are not asked about it. */
export function withAbsent(policy: ResolvedPolicy): ResolvedPolicy {
  const { isNegative, cacheIf, ttlOf, negativeTtl } = policy;
  return {
    ...policy,
    isNegative: (value) => value === undefined || isNegative(value),
    cacheIf: cacheIf && ((value) => value === undefined || cacheIf(value)),
    ttlOf: ttlOf && ((value, ...args) => (value === undefined ? negativeTtl : ttlOf(value, ...args))),
  };
}
