import { MAX_DEPTH } from './wire.js';

/**
 * Whether `JSON.parse(JSON.stringify(value))` is `value` again. It only says yes or no and gives up at the first thing
 * that is not plain, so that what most values are is found out cheaply; the typed writer finds the reasons.
 *
 * `ancestors` are the containers around `value`: a cycle must not be walked round and round.
 */
export function isPlainJson(value: unknown, depth: number, ancestors: object[]): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value) && (value !== 0 || 1 / value > 0);
  if (typeof value !== 'object' || depth >= MAX_DEPTH) return false;
  for (let i = 0; i < depth; i++) if (ancestors[i] === value) return false;
  ancestors[depth] = value;
  if (Object.getOwnPropertySymbols(value).length !== 0) return false;
  return Array.isArray(value)
    ? isPlainArray(value, depth, ancestors)
    : isPlainObject(value as Readonly<Record<string, unknown>>, depth, ancestors);
}

function isPlainArray(array: readonly unknown[], depth: number, ancestors: object[]): boolean {
  // The keys are counted before the elements are walked: `length` may be four billion.
  if (Object.getPrototypeOf(array) !== Array.prototype || Object.keys(array).length !== array.length)
    return false;
  for (let i = 0; i < array.length; i++) {
    const element = array[i];
    if (typeof element !== 'string' && !isPlainJson(element, depth + 1, ancestors)) return false;
  }
  return true;
}

function isPlainObject(
  object: Readonly<Record<string, unknown>>,
  depth: number,
  ancestors: object[],
): boolean {
  if (Object.getPrototypeOf(object) !== Object.prototype) return false;
  // Inherited names, should someone have put any on the root prototype, are looked at in vain, never written.
  for (const name in object) {
    const property = object[name];
    if (typeof property !== 'string' && !isPlainJson(property, depth + 1, ancestors)) return false;
  }
  return true;
}
