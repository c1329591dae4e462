import { classify } from './classify.js';
import type { Walk } from './walk.js';

/** Symbol keys have no text of their own: two different symbols may look alike. */
export function refuseSymbols(value: object, walk: Walk): void {
  for (const symbol of Object.getOwnPropertySymbols(value)) {
    if (Object.prototype.propertyIsEnumerable.call(value, symbol)) {
      walk.refuse(`an object with a symbol key (${symbol.toString()})`);
    }
  }
}

/** An array, Map, Set, Date or RegExp is encoded by what it is made for; anything it carries besides would be lost. */
export function refuseExtras(value: object, walk: Walk): void {
  refuseSymbols(value, walk);
  const properties = Object.keys(value);
  if (Array.isArray(value)) refuseOddArray(value, properties, walk);
  else if (properties.length > 0)
    walk.refuse(`a ${describe(value)} with a property of its own (${properties[0]})`);
  refusePrivate(value, walk);
}

/** State that no property shows cannot be part of a key. */
export function refusePrivate(value: object, walk: Walk): void {
  const prototype = Object.getPrototypeOf(value) as object | null;
  const privateIn = prototype === null ? undefined : classify(prototype).privateIn;
  if (privateIn !== undefined)
    walk.refuse(`an instance of ${describe(value)} with #private members (in ${privateIn})`);
}

function refuseOddArray(value: readonly unknown[], properties: readonly string[], walk: Walk): void {
  // Indices come first in property order, so a named property can only be at the end.
  const last = properties.at(-1);
  if (last !== undefined && !isIndex(last, value.length))
    walk.refuse(`an array with a named property (${last})`);
  if (properties.length !== value.length) walk.refuse('a sparse array');
}

function isIndex(property: string, length: number): boolean {
  const index = Number(property);
  return String(index >>> 0) === property && index < length;
}

/** The class of a value as an error should say it. */
export function describe(value: object): string {
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === null) return 'Object';
  const { name, builtIn } = classify(prototype);
  return builtIn === undefined || builtIn === name ? name : `${name} (a ${builtIn})`;
}
