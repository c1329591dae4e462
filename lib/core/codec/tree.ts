import { types } from 'node:util';

/**
 * Copying a value that is made of plain parts takes an eighth of the time that parsing its JSON takes: the strings are shared, and
 * an object is copied as V8 lays it out, property for property.
 */

/** Deeper ones are parsed anew: the stack is finite. */
const MAX_DEPTH = 100;

/** What V8 takes, in bytes, and it takes whole words: each with its head, and with what it always has. */
const WORD = 8;
const OBJECT = 24;
const ARRAY = 48;
const DATE = 112;
const TEXT = 16;
const NUMBER = 16;
const BIGINT = 16;
/** An object without properties has room for so many. */
const ROOM = 4;
/** A name that no other value has: its text, and the layout of the object that got it. */
const NAME = 136;
/** So many are taken for those of a record, which many values have in common: V8 keeps the layout of them all once. */
const USUAL_NAMES = 32;

const WIDE = /[\u0100-\uffff]/;

/**
 * Whether {@link copyTree} makes a faithful copy: plain objects, dense arrays, Dates and primitives, none of which stands in two
 * places; and they take at most so much memory, as V8 lays them out on a machine of 64 bits.
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
  private readonly names = new Set<string>();

  constructor(private left: number) {}

  fits(value: unknown, depth: number): boolean {
    switch (typeof value) {
      case 'object':
        return value === null || this.fitsObject(value, depth);
      case 'string':
        return this.takes(sizeOf(value));
      case 'number':
        return this.takes(NUMBER);
      case 'bigint':
        return this.takes(BIGINT + value.toString(16).length / 2);
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
    // Before its keys are asked for: those of a Buffer are its bytes.
    if (prototype === Object.prototype) return this.fitsProperties(value, depth);
    if (Array.isArray(value)) return prototype === Array.prototype && this.fitsArray(value, depth);
    if (!types.isDate(value) || prototype !== Date.prototype) return false;
    return Reflect.ownKeys(value).length === 0 && this.takes(DATE);
  }

  private fitsProperties(value: object, depth: number): boolean {
    const names = Reflect.ownKeys(value);
    if (!this.takes(OBJECT + WORD * (names.length || ROOM))) return false;
    return names.every((name) => {
      const own = Object.getOwnPropertyDescriptor(value, name);
      // What the codec makes is so; whatever else there may be is not for spreading.
      const isPlain =
        typeof name === 'string' && own?.enumerable === true && own.writable === true && 'value' in own;
      return isPlain && this.fitsName(name) && this.fits(own.value, depth + 1);
    });
  }

  private fitsName(name: string): boolean {
    if (this.names.has(name)) return true;
    this.names.add(name);
    return this.names.size <= USUAL_NAMES || this.takes(NAME + name.length);
  }

  private fitsArray(array: readonly unknown[], depth: number): boolean {
    if (!this.takes(ARRAY + WORD * array.length)) return false;
    for (let at = 0; at < array.length; at++) {
      if (!Object.hasOwn(array, at) || !this.fits(array[at], depth + 1)) return false;
    }
    // Its members and its length, nothing besides; last, as it takes longest.
    return Reflect.ownKeys(array).length === array.length + 1;
  }

  private takes(bytes: number): boolean {
    this.left -= Math.ceil(bytes / WORD) * WORD;
    return this.left >= 0;
  }
}

function sizeOf(text: string): number {
  return TEXT + text.length * (WIDE.test(text) ? 2 : 1);
}
