import { types } from 'node:util';
import type { Advice } from '../advice.js';
import { ConfigurationError } from '../errors.js';
import { encodeKey, type Key } from '../keys/index.js';
import { show } from '../show.js';

/**
 * What a loader of many returned, by the ids it was asked for. An id that is an object is found by its contents too: rows of a
 * database bring objects of their own.
 * @throws ConfigurationError for anything but a Map
 */
export function valuesById(
  given: unknown,
  ids: readonly unknown[],
  where: string,
  advice: Advice,
): ReadonlyMap<unknown, unknown> {
  // Not `instanceof`: a Map of another realm is one too.
  if (!types.isMap(given)) {
    throw new ConfigurationError(
      `${where}: loadMany returned ${show(given)}. Return a Map from each id that was found to its value.`,
    );
  }
  const values = new Map(ids.filter((id) => given.has(id)).map((id) => [id, given.get(id)]));
  if (values.size === given.size) return values;
  const missing = ids.filter((id) => !values.has(id));
  const asked = new Set(ids);
  const alike = new Map(missing.map((id) => [textOf(id), id]));
  alike.delete(undefined);
  const strangers = [...given].filter(([id, value]) => {
    const own = asked.has(id) ? undefined : alike.get(textOf(id));
    if (own !== undefined) values.set(own, value);
    return own === undefined && !asked.has(id);
  });
  if (strangers.length > 0) advice.once(where, 'loadMany', complaint(where, strangers[0]?.[0], ids, values));
  return values;
}

function complaint(
  where: string,
  stranger: unknown,
  ids: readonly unknown[],
  values: ReadonlyMap<unknown, unknown>,
): string {
  const message = `${where}: loadMany returned an id that it was not asked for, ${show(stranger)}. It was ignored.`;
  const lost = ids.find((id) => !values.has(id));
  if (values.size === ids.length) return message;
  return `${message} ${ids.length - values.size} of ${ids.length} ids are missing, such as ${show(lost)}: are they of the same type? 1 and '1' are two ids.`;
}

/** The contents of an object as text. Undefined: it is none, or it has no text. */
function textOf(id: unknown): string | undefined {
  if (typeof id !== 'object' || id === null) return undefined;
  try {
    return encodeKey(id as Key);
  } catch {
    return undefined;
  }
}
