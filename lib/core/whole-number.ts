import { ConfigurationError } from './errors.js';
import { show } from './show.js';

/** A user's count. @throws ConfigurationError naming the option and the value received */
export function wholeNumber(value: unknown, name: string, fallback: number, least: number): number {
  if (value === undefined) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least) return value;
  throw new ConfigurationError(`${name} is a whole number >= ${least}, received ${show(value)}.`);
}
