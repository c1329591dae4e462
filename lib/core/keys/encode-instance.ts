import type { ClassInfo } from './classify.js';
import { describe, refusePrivate } from './refuse.js';
import type { Walk } from './walk.js';

/** The encoder's own functions, handed in because the two files need each other. */
export interface Recursion {
  encodeMember(value: unknown, segment: string, walk: Walk): string;
  encodeRecord(value: object, walk: Walk): string;
}

/**
 * The text of an instance: of what its `toJSON()` returns, tagged, or of its own enumerable properties. Refused is what
 * holds state that no property shows, or lives on while the key stays the same.
 */
export function encodeInstance(value: object, info: ClassInfo, walk: Walk, recursion: Recursion): string {
  if (info.living !== undefined) walk.refuse(`${info.living} (${info.name})`);
  if (hasToJSON(value)) return `toJSON(${recursion.encodeMember(callToJSON(value, walk), 'toJSON()', walk)})`;
  if (info.builtIn !== undefined)
    walk.refuse(`an instance of ${describe(value)}, whose properties do not show its state`);
  refusePrivate(value, walk);
  if (!info.plain && Object.keys(value).length === 0) {
    walk.refuse(`an instance of ${info.name} without a property of its own`);
  }
  return recursion.encodeRecord(value, walk);
}

interface Jsonable {
  toJSON(key: string): unknown;
}

function hasToJSON(value: object): value is Jsonable {
  return typeof (value as Partial<Jsonable>).toJSON === 'function'; // any object may be asked for a property
}

function callToJSON(value: Jsonable, walk: Walk): unknown {
  try {
    return value.toJSON('');
  } catch (error) {
    return walk.refuse(`an instance of ${describe(value)} whose toJSON() threw`, error);
  }
}
