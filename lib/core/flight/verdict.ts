import { isStampedeCacheError, LoadManyError } from '../errors.js';
import type { Verdict } from '../guard/index.js';
import type { LoadResult } from '../load/index.js';
import type { Plan } from '../publish/index.js';

/** Errors of this package that do tell of an origin: a load inside the load that failed or hung. */
const OF_AN_ORIGIN: ReadonlySet<string> = new Set(['LOAD_TIMEOUT', 'REMOTE_LOAD']);

/**
 * What a load says of its origin, for the breaker. An answer is none of its failures: `negativeErrors`, an HttpException 4xx,
 * a value that can't be stored. A load that was aborted, or failed for what this cache withheld from it, says nothing.
 */
export function verdictOn(result: LoadResult, plan?: Plan): Verdict {
  if (result.kind === 'timeout') return 'failure';
  if (result.kind === 'aborted') return 'nothing';
  if (result.kind !== 'error') return 'success';
  if (plan?.kind === 'error' && plan.nature === 'answer') return 'success';
  try {
    const error = result.error instanceof LoadManyError ? result.error.cause : result.error;
    if (isClientError(error)) return 'success';
    return isStampedeCacheError(error) && !OF_AN_ORIGIN.has(error.code) ? 'nothing' : 'failure';
  } catch {
    // An error that throws when it is looked at (a Proxy, a getter).
    return 'failure';
  }
}

/** An HttpException 4xx, by structure: this package's core knows no framework. */
function isClientError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { getStatus } = error as { readonly getStatus?: unknown }; // a look at what may be there
  if (typeof getStatus !== 'function') return false;
  const status: unknown = getStatus.call(error);
  return typeof status === 'number' && status >= 400 && status < 500;
}
