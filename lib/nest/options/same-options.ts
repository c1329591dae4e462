/**
 * The first option in which two caches differ, or undefined. Plain objects and arrays are compared by what they hold;
 * functions and instances by identity.
 */
export function differingOption(a: object, b: object): string | undefined {
  const one = a as Readonly<Record<string, unknown>>; // read-only look by name
  const two = b as Readonly<Record<string, unknown>>;
  const names = new Set([...Object.keys(one), ...Object.keys(two)]);
  return [...names].find((name) => !isSame(one[name], two[name]));
}

function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  }
  return isPlain(a) && isPlain(b) && differingOption(a, b) === undefined;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
