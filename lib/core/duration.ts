import ms, { type StringValue } from 'ms';
import { ConfigurationError } from './errors.js';
import { show } from './show.js';

/** A length of time: a number of **milliseconds**, or a number with its unit. */
export type Duration = number | `${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d`;

const GRAMMAR = /^\d+(\.\d+)?(ms|s|m|h|d)$/;

/**
 * Milliseconds of a duration such as `'250ms'`, `'30s'`, `'5m'`, `'2h'`, `'1d'`: for values from the environment.
 * Fractions round up to whole milliseconds.
 * @throws ConfigurationError for anything else, also for a number without a unit.
 */
export function parseDuration(text: string): number {
  return toMilliseconds(text, 'parseDuration');
}

/** Milliseconds of what a user gave as a duration. `where` names the option in the error. */
export function toMilliseconds(duration: unknown, where: string): number {
  const parsed = milliseconds(duration);
  if (parsed === undefined || parsed < 0) {
    throw new ConfigurationError(
      `${where}: ${show(duration)} is not a duration. Give a number of milliseconds >= 0, or a number with a unit: '250ms', '30s', '5m', '2h', '1d'.`,
    );
  }
  return parsed;
}

/** The same without an error: undefined for what is no duration. Negative numbers pass. */
export function milliseconds(duration: unknown): number | undefined {
  if (typeof duration === 'number') return Number.isFinite(duration) ? Math.ceil(duration) : undefined;
  if (typeof duration !== 'string' || !GRAMMAR.test(duration)) return undefined;
  // The grammar above is a subset of what `ms` reads.
  const value = ms(duration as StringValue);
  return Number.isFinite(value) ? Math.ceil(value) : undefined;
}
