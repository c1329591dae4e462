import type { HttpRequest } from './request-view.js';

const NONE: readonly string[] = Object.freeze([]);

/**
 * Which of the credential headers a request carries with a value.
 * @param names in lower case
 */
export function credentialsOf(
  request: Pick<HttpRequest, 'headers'>,
  names: readonly string[],
): readonly string[] {
  let carried: string[] | undefined;
  for (const name of names) {
    if (hasValue(request.headers[name])) (carried ??= []).push(name);
  }
  return carried ?? NONE;
}

/** Whether an input was given at all: neither missing nor an empty text. */
export function hasValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasValue);
  return value !== undefined && value !== null && value !== '';
}
