import { show } from '../show.js';

/** The store failed or did not answer within its budget: what it holds, and whether it did as asked, is unknown. */
export class StoreFailure extends Error {
  constructor(what: string, cause?: unknown) {
    super(`${what}: ${whyOf(cause)}`, { cause });
    this.name = 'StoreFailure';
  }
}

/** A text says why the store was not asked. */
function whyOf(cause: unknown): string {
  if (cause === undefined) return 'no answer in time';
  if (typeof cause === 'string') return cause;
  return cause instanceof Error ? cause.message : show(cause);
}
