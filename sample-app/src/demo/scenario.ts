/** Application processes behind the imaginary load balancer. */
export const PROCESSES = 4;

/** Who keep asking for one key, each over an HTTP connection of their own. */
export const CALLERS = 400;

/** How long the database works on the query, in milliseconds. */
export const QUERY_TIME = 250;

/** Both caches keep an answer for that long, in milliseconds: see the two services in `app`. */
export const TTL = 1_000;

/** A caller pauses between two requests for half to one and a half times that, in milliseconds. */
export const THINK_TIME = 500;

/** How long the callers keep asking, the cold start included, in milliseconds. */
export const RUN_TIME = 10_000;

/** Width of one bar of the picture, in milliseconds. */
export const BUCKET = 50;

/** Both runs together: when they take longer, something has gone wrong; in milliseconds. */
export const LIMIT = 45_000;

export interface Contender {
  /** Its row in the table and its half of the picture. */
  readonly name: string;
  /** The first segment of its route. */
  readonly path: string;
}

export const CACHE_ASIDE: Contender = { name: 'cache-aside', path: 'cache-aside' };
export const CACHED: Contender = { name: '@Cached', path: 'cached' };
