/**
 * Copying a value that is made of plain parts takes a tenth of the time that parsing its JSON takes: the strings are shared, and
 * an object is copied as V8 lays it out, property for property.
 */

/** Deeper ones are parsed anew: the stack is finite. */
const MAX_DEPTH = 100;

/** What V8 takes, in bytes: for an object or array, for each of its members, for a string beside its text, for a number in its box. */
const OBJECT = 32;
const MEMBER = 8;
const STRING = 20;
const NUMBER = 16;

/**
 * Whether {@link copyTree} makes a faithful copy: plain objects, dense arrays, Dates and primitives, none of which stands in two
 * places; and they take at most so much memory.
 * @param maxBytes roughly; text counts as it is stored
 */
export function isTree(value: unknown, maxBytes: number): boolean {
  return new Measure(maxBytes).fits(value, 0);
}

/** A copy of what {@link isTree} says yes to: whoever gets it owns it. */
export function copyTree<T>(value: T): T;
export function copyTree(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? copyObject(value) : value;
}

function copyObject(value: object): object {
  if (Array.isArray(value)) return copyArray(value);
  if (value instanceof Date) return new Date(value.getTime());
  const copy = { ...value } as Record<string, unknown>;
  for (const name in copy) {
    const member = copy[name];
    if (typeof member === 'object' && member !== null && Object.hasOwn(copy, name))
      copy[name] = copyObject(member);
  }
  return copy;
}

function copyArray(value: readonly unknown[]): unknown[] {
  const copy = value.slice();
  for (let at = 0; at < copy.length; at++) {
    const member = copy[at];
    if (typeof member === 'object' && member !== null) copy[at] = copyObject(member);
  }
  return copy;
}

class Measure {
  private readonly seen = new Set<object>();

  constructor(private left: number) {}

  fits(value: unknown, depth: number): boolean {
    switch (typeof value) {
      case 'object':
        return value === null || this.fitsObject(value, depth);
      case 'string':
        return this.takes(STRING + value.length);
      case 'number':
        return this.takes(NUMBER);
      case 'function':
      case 'symbol':
        return false;
      default:
        return true;
    }
  }

  private fitsObject(value: object, depth: number): boolean {
    if (depth >= MAX_DEPTH || this.seen.has(value)) return false;
    this.seen.add(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    const names = Reflect.ownKeys(value);
    if (!this.takes(OBJECT + MEMBER * names.length)) return false;
    if (prototype === Date.prototype) return names.length === 0;
    if (prototype === Array.prototype)
      return this.fitsArray(value as readonly unknown[], names.length, depth);
    if (prototype !== Object.prototype) return false;
    return names.every((name) => {
      const own = Object.getOwnPropertyDescriptor(value, name);
      // What the codec makes is so; whatever else there may be is not for spreading.
      const isPlain =
        typeof name === 'string' && own?.enumerable === true && own.writable === true && 'value' in own;
      return isPlain && this.fits(own.value, depth + 1);
    });
  }

  private fitsArray(array: readonly unknown[], own: number, depth: number): boolean {
    // Its members and its length, no hole and nothing besides.
    if (own !== array.length + 1) return false;
    for (let at = 0; at < array.length; at++) {
      if (!Object.hasOwn(array, at) || !this.fits(array[at], depth + 1)) return false;
    }
    return true;
  }

  private takes(bytes: number): boolean {
    this.left -= bytes;
    return this.left >= 0;
  }
}
