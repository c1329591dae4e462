/**
 * How far a time that a key holds may lie ahead of the server's clock, ms: a day, for a clock that is set back. What lies
 * beyond was written by no script of ours; obeyed, it would have its way until that day comes.
 */
export const AHEAD_MS = 86_400_000;

/** The longest hold-off, ms: a hundred years, which still fits into 13 digits of epoch milliseconds. */
export const LONGEST_HOLD_OFF_MS = 100 * 365 * 86_400_000;

/** The longest life of an announced variant, ms: twice the longest life of an entry, and what is added to it. */
export const LONGEST_VARIANT_MS = 2 * LONGEST_HOLD_OFF_MS + AHEAD_MS;
