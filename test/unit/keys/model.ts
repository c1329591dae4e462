import { Dto, Jsonable } from './arbitraries.js';

/** Stands in for an invalid date, two of which `isDeepStrictEqual` does not always call equal. */
class InvalidDate {}

/** Stands in for an instance with `toJSON()`: equal to another one that returns the same, and to nothing else. */
class Json {
  constructor(readonly json: unknown) {}
}

/**
 * Makes `isDeepStrictEqual` of two results mean "these two parts share a key": `0` for `-0`, no undefined properties, no
 * DTO classes, no null prototypes.
 */
export function normalise(value: unknown): unknown {
  if (value === 0) return 0;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(normalise);
  if (value instanceof Jsonable) return new Json(normalise(value.toJSON()));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? new InvalidDate() : value;
  if (value instanceof Set) return new Set([...value].map(normalise));
  if (value instanceof Map)
    return new Map([...value].map(([key, item]) => [normalise(key), normalise(item)]));
  if (value instanceof Dto || isRecord(value)) return rebuild({}, definedEntries(value), normalise);
  return value;
}

/** Another spelling of the same part: each thing that must make no difference is made different. */
export function respell(value: unknown): unknown {
  if (value === 0) return Object.is(value, 0) ? -0 : 0;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(respell);
  if (value instanceof Jsonable) return new Jsonable(respell(value.toJSON()));
  if (value instanceof Date) return new Date(value.getTime());
  if (value instanceof Set) return new Set([...value].reverse().map(respell));
  if (value instanceof Map)
    return new Map([...value].reverse().map(([key, item]) => [respell(key), respell(item)]));
  if (value instanceof Dto) return rebuild({}, definedEntries(value).reverse(), respell);
  if (!isRecord(value)) return value;
  const entries = [...definedEntries(value).reverse(), ['added', undefined] as const];
  return rebuild(Object.getPrototypeOf(value) === null ? new Dto({}) : Object.create(null), entries, respell);
}

/** The same part with one value in it, found by `steps`, replaced. */
export function change(value: unknown, steps: readonly number[], replacement: unknown): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== 'object' || value === null) return replacement;
  const one = <T>(all: readonly T[], by: (item: T) => T): T[] =>
    all.map((item, i) => (i === step % all.length ? by(item) : item));
  const deeper = (item: unknown): unknown => change(item, rest, replacement);
  if (Array.isArray(value) && value.length > 0) return one(value, deeper);
  if (value instanceof Jsonable) return new Jsonable(deeper(value.toJSON()));
  if (value instanceof Set && value.size > 0) return new Set(one([...value], deeper));
  if (value instanceof Map && value.size > 0)
    return new Map(one([...value], ([key, item]) => [key, deeper(item)]));
  if (!isRecord(value) || Object.keys(value).length === 0) return replacement;
  return rebuild(
    {},
    one(Object.entries(value), ([key, item]) => [key, deeper(item)]),
    (item) => item,
  );
}

function isRecord(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function definedEntries(value: object): (readonly [string, unknown])[] {
  return Object.entries(value).filter(([, item]) => item !== undefined);
}

/** Defines instead of assigning: a property may be called `__proto__`. */
function rebuild(
  target: object,
  entries: readonly (readonly [string, unknown])[],
  by: (item: unknown) => unknown,
): object {
  for (const [key, item] of entries) {
    Object.defineProperty(target, key, {
      value: by(item),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return target;
}
