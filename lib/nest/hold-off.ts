import { toMilliseconds } from '../core/duration.js';
import { ConfigurationError } from '../core/errors.js';

/** What an invalidation was called with. */
export interface Invalidated<T> {
  readonly items: readonly T[];
  /** 0: what is loaded next may be stored. */
  readonly holdOffMs: number;
}

/**
 * Takes the option off the end of a list of at least `atLeast` items.
 * @throws ConfigurationError for a holdOff that is no duration
 */
export function takeHoldOff<T>(given: readonly unknown[], where: string, atLeast: number): Invalidated<T> {
  const last: unknown = given.at(-1);
  // What stands before the option is checked by its receiver.
  if (given.length <= atLeast || !isOptions(last)) return { items: given as readonly T[], holdOffMs: 0 };
  const { holdOff } = last;
  return {
    items: given.slice(0, -1) as readonly T[],
    holdOffMs: holdOff === undefined ? 0 : toMilliseconds(holdOff, `${where}: holdOff`),
  };
}

/** @throws ConfigurationError: a soft expiry lets a stale value go on, so there is nothing to hold off */
export function refuseHoldOff(given: readonly unknown[], where: string, instead: string): void {
  if (!isOptions(given.at(-1))) return;
  throw new ConfigurationError(
    `${where} takes no { holdOff }: what it makes stale may be served and stored again at once. Remove it, or use ${instead}.`,
  );
}

/** A plain object with nothing but `holdOff`: any other object is a key or an argument. */
function isOptions(value: unknown): value is { readonly holdOff: unknown } {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return false;
  const properties = Reflect.ownKeys(value);
  return properties.length === 1 && properties[0] === 'holdOff';
}
