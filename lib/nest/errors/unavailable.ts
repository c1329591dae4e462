import { isStampedeCacheError, type StampedeCacheError } from '../../core/errors.js';

/** What the four errors that mean "not now" have in common. */
export interface UnavailableError extends StampedeCacheError {
  readonly statusCode: 503;
  /** When trying again makes sense, ms. */
  readonly retryAfter: number;
}

/**
 * Stands for these errors where Nest asks `instanceof`: by their brand, so that those of another copy of this package are
 * known too.
 */
export abstract class Unavailable {
  static [Symbol.hasInstance](error: unknown): boolean {
    return isUnavailable(error);
  }
}

/** What clients may be told: nothing of methods, keys, limits or connections. */
const PUBLIC_MESSAGES: Readonly<Record<string, string>> = {
  LOAD_TIMEOUT: 'The answer took too long. Try again later.',
  WAIT_TIMEOUT: 'The answer took too long. Try again later.',
  LOAD_REJECTED: 'The request could not be worked on now. Try again later.',
};
const ANY_OTHER = 'The service is temporarily unavailable. Try again later.';

export function publicMessage(code: string): string {
  return PUBLIC_MESSAGES[code] ?? ANY_OTHER;
}

/** The value of the header `Retry-After`: whole seconds, at least one. */
export function retryAfterSeconds({ retryAfter }: UnavailableError): number {
  return Number.isFinite(retryAfter) ? Math.max(1, Math.ceil(retryAfter / 1000)) : 1;
}

function isUnavailable(error: unknown): error is UnavailableError {
  if (!isStampedeCacheError(error)) return false;
  const { statusCode, retryAfter } = error as Partial<UnavailableError>; // possibly another version's
  return statusCode === 503 && typeof retryAfter === 'number';
}
