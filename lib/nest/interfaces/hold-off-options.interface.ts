import type { Duration } from '../../core/duration.js';

/** What may stand behind the keys, tags or arguments of an invalidation. */
export interface HoldOffOptions {
  /** Nothing is stored under what was invalidated for this long: for loads that read from a replica which lags. */
  readonly holdOff: Duration;
}

/**
 * An argument list, or one with {@link HoldOffOptions} behind it. Optional arguments may be left out before them too.
 */
export type WithHoldOff<A extends readonly unknown[]> = A | [...ListsOf<A>, HoldOffOptions];

/** Every length that an argument list may have. */
type ListsOf<A extends readonly unknown[], Done extends readonly unknown[] = []> = A extends readonly []
  ? Done
  : A extends readonly [infer Head, ...infer Tail]
    ? ListsOf<Tail, [...Done, Head]>
    : number extends A['length']
      ? [...Done, ...A]
      : A extends readonly [_?: infer Head, ...infer Tail]
        ? Done | ListsOf<Tail, [...Done, Head | undefined]>
        : [...Done, ...A];
