import { types } from 'node:util';

/** Own visible properties by name, and the hidden ones an error keeps its message and cause in. */
function propertiesOf(value: object): Map<string, unknown> {
  const found = new Map<string, unknown>();
  if (ArrayBuffer.isView(value)) return found;
  for (const [name, { enumerable, value: content }] of Object.entries(
    Object.getOwnPropertyDescriptors(value),
  )) {
    if (name === 'stack' || name === 'length' || (!enumerable && !types.isNativeError(value))) continue;
    found.set(`${enumerable ? '' : 'hidden '}${name}`, content);
  }
  return found;
}

/** What an object holds besides properties, in order. */
function contentsOf(value: object): readonly unknown[] {
  if (types.isDate(value)) return [value.getTime()];
  if (types.isMap(value)) return [...value].flat(1);
  if (types.isSet(value)) return [...value];
  if (types.isRegExp(value)) return [value.source, value.flags, value.lastIndex];
  if (value instanceof URL) return [value.href];
  if (value instanceof URLSearchParams) return [...value].flat(1);
  if (ArrayBuffer.isView(value)) {
    return [Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')];
  }
  if (types.isArrayBuffer(value)) return [Buffer.from(value).toString('hex')];
  return Array.isArray(value) ? [value.length] : [];
}

/**
 * Equality stricter than `isDeepStrictEqual`: that one holds two invalid dates for different, all URLs for equal (both
 * on Node.js 20), and does not look at the order of properties, keys and elements.
 */
export function same(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (types.isNativeError(a) !== types.isNativeError(b)) return false;
  const [propertiesA, propertiesB] = [propertiesOf(a), propertiesOf(b)];
  const [contentsA, contentsB] = [contentsOf(a), contentsOf(b)];
  return (
    contentsA.length === contentsB.length &&
    contentsA.every((content, i) => same(content, contentsB[i])) &&
    propertiesA.size === propertiesB.size &&
    [...propertiesA].every(([name, value]) => propertiesB.has(name) && same(value, propertiesB.get(name)))
  );
}
