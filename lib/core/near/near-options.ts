import { toMilliseconds, type Duration } from '../duration.js';
import { ConfigurationError } from '../errors.js';
import { show } from '../show.js';
import { wholeNumber } from '../whole-number.js';

/** Copies of hot entries in this process. */
export interface NearOptions {
  /** Entries kept at most, the least recently used first out. @default 10_000 */
  readonly maxEntries?: number;
  /**
   * Bytes they take at most, with some for keeping them: about four times those stored up to 64 KiB an entry, as a parsed value
   * may be kept beside them; of longer ones those stored. Values that `shared: true` decoded come on top. @default 64 MiB
   */
  readonly maxBytes?: number;
  /** The longest a copy is believed: the last bound where the store drops entries without a word. @default '30s' */
  readonly ttl?: Duration;
}

/** The same, filled in; times in ms. */
export interface NearLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly ttl: number;
}

const KNOWN = ['maxEntries', 'maxBytes', 'ttl'];
const DEFAULT_TTL = 30_000;

/**
 * @param where of the option, for messages
 * @returns undefined: no copies are kept
 * @throws ConfigurationError naming the option and the value received
 */
export function resolveNear(near: NearOptions | false | undefined, where: string): NearLimits | undefined {
  if (near === undefined || near === false) return undefined;
  if (typeof near !== 'object' || near === null) {
    throw new ConfigurationError(
      `${where} is false or an object such as { maxEntries: 10_000, ttl: '30s' }, received ${show(near)}.`,
    );
  }
  const unknown = Object.keys(near).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) {
    throw new ConfigurationError(`${where}.${unknown} is unknown; known: ${KNOWN.join(', ')}.`);
  }
  const ttl = toMilliseconds(near.ttl ?? DEFAULT_TTL, `${where}.ttl`);
  if (ttl <= 0) {
    throw new ConfigurationError(
      `${where}.ttl is longer than 0, received ${show(near.ttl)}. To keep no copies leave ${where} out.`,
    );
  }
  return {
    maxEntries: wholeNumber(near.maxEntries, `${where}.maxEntries`, 10_000, 1),
    maxBytes: wholeNumber(near.maxBytes, `${where}.maxBytes`, 64 * 1024 * 1024, 1),
    ttl,
  };
}
