import { show } from '../show.js';

/** The store failed or did not answer within its budget: what it holds, and whether it did as asked, is unknown. */
export class StoreFailure extends Error {
  constructor(what: string, cause?: unknown) {
    const why =
      cause instanceof Error ? cause.message : cause === undefined ? 'no answer in time' : show(cause);
    super(`${what}: ${why}`, { cause });
    this.name = 'StoreFailure';
  }
}
