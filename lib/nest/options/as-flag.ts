import { ConfigurationError } from '../../core/errors.js';

/**
 * What a user's yes-or-no function meant. A Promise would always be a yes.
 * @throws ConfigurationError
 */
export function asFlag(answer: unknown, what: string): boolean {
  if (typeof answer !== 'object' || answer === null || !('then' in answer)) return Boolean(answer);
  throw new ConfigurationError(`${what} returned a Promise: it decides at once, with true or false.`);
}
