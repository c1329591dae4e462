import { Turnstile } from './turnstile.js';

/** Keys at once. Redis and this process are done with so many within a fraction of `redisTimeout`. */
const LIMIT = 1_000;

/** How many keys of calls for many are on their way to the store at once: what is sent must be answered in time. */
export class Pace {
  /** Calls that find out whether they are hits. */
  readonly reads = new Turnstile(LIMIT);
  /** Loads that ask for their lease. */
  readonly asks = new Turnstile(LIMIT);
}
