import { types } from 'node:util';
import { classify } from './classify.js';
import { encodeBuiltIn, encodeUrl } from './encode-built-in.js';
import { encodeInstance, type Recursion } from './encode-instance.js';
import { quote } from './escape.js';
import type { Key } from './key-part.js';
import { refuseExtras, refuseSymbols } from './refuse.js';
import { Walk } from './walk.js';

/**
 * The canonical text of one key part. Two parts have one text only if they are the same value; the exceptions, all on
 * purpose, are listed in docs/decisions/0003-keys.md (`0` and `-0`, property order, undefined properties, DTO classes).
 * ASCII without spaces, control characters, `{` and `}`.
 *
 * @throws UnencodableKeyPart
 */
export function encodePart(part: unknown): string {
  return needsWalk(part) ? encodeComposite(part, new Walk()) : encodePrimitive(part);
}

/**
 * The text of a list of parts, without brackets: `encodeParts(['a'])` is `'a'`, `encodeParts([['a']])` is `['a']`.
 *
 * @throws UnencodableKeyPart its first segment is the index in the list
 */
export function encodeParts(parts: readonly unknown[]): string {
  return encodeList(parts, parts.length);
}

/**
 * The text of an argument list. Undefined arguments at its end are dropped: `m()` and `m(undefined)` are one call, as they
 * are for a default parameter.
 *
 * @throws UnencodableKeyPart its first segment is the argument's index
 */
export function encodeArgs(args: readonly unknown[]): string {
  let length = args.length;
  while (length > 0 && args[length - 1] === undefined) length--;
  return encodeList(args, length);
}

/** The text of a user's key: a list keeps its brackets, so that `'a'` and `['a']` differ. */
export function encodeKey(key: Key): string {
  return encodePart(key);
}

function encodeList(parts: readonly unknown[], length: number): string {
  const first = parts[0];
  if (length === 1 && !needsWalk(first)) return encodePrimitive(first);
  const walk = new Walk();
  let text = '';
  for (let i = 0; i < length; i++) {
    if (i > 0) text += ',';
    text += encodeMember(parts[i], i, walk);
  }
  return text;
}

/** Objects, and what is refused: both must know where they stand. Primitives, the common case, do without. */
function needsWalk(value: unknown): value is object | symbol {
  const type = typeof value;
  return type === 'object' ? value !== null : type === 'function' || type === 'symbol';
}

function encodePrimitive(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  return typeof value === 'bigint' ? `${value}n` : String(value); // String(-0) is '0'
}

/** A value one step below the walk's current holder. */
function encodeMember(value: unknown, segment: string | number, walk: Walk): string {
  if (!needsWalk(value)) return encodePrimitive(value);
  walk.down(segment);
  const text = encodeComposite(value, walk);
  walk.up();
  return text;
}

function encodeComposite(value: object | symbol, walk: Walk): string {
  if (typeof value === 'symbol') return walk.refuse(`a symbol (${value.toString()})`);
  if (typeof value === 'function')
    return walk.refuse(value.name === '' ? 'a function' : `a function (${value.name})`);
  walk.enter(value);
  const text = encodeContent(value, walk);
  walk.leave();
  return text;
}

function encodeContent(value: object, walk: Walk): string {
  if (Array.isArray(value)) return encodeArray(value, walk);
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Object.prototype || prototype === null) return encodeRecord(value, walk);
  if (prototype === URL.prototype) return encodeUrl(value as URL, walk); // the prototype says so
  const info = classify(prototype);
  if (info.builtIn === undefined) return encodeInstance(value, info, walk, recursion);
  if (types.isMap(value)) return encodeMap(value, walk);
  if (types.isSet(value)) return encodeSet(value, walk);
  return encodeBuiltIn(value, walk) ?? encodeInstance(value, info, walk, recursion);
}

function encodeArray(value: readonly unknown[], walk: Walk): string {
  refuseExtras(value, walk);
  let text = '[';
  for (let i = 0; i < value.length; i++) {
    if (i > 0) text += ',';
    text += encodeMember(value[i], i, walk);
  }
  return `${text}]`;
}

/** Neither a Map nor a Set has an order for `isDeepStrictEqual`, so their members are sorted by text. */
function encodeMap(value: ReadonlyMap<unknown, unknown>, walk: Walk): string {
  refuseExtras(value, walk);
  const entries = Array.from(value, ([key, item], i) => {
    walk.down(i);
    const text = `${encodeMember(key, 0, walk)}=${encodeMember(item, 1, walk)}`;
    walk.up();
    return text;
  });
  return `Map(${entries.sort().join(',')})`;
}

function encodeSet(value: ReadonlySet<unknown>, walk: Walk): string {
  refuseExtras(value, walk);
  return `Set(${Array.from(value, (item, i) => encodeMember(item, i, walk))
    .sort()
    .join(',')})`;
}

/** Instances are encoded in a file of their own, which needs these two. */
const recursion: Recursion = { encodeMember, encodeRecord };

const BARE_PROPERTY = /^[\w$]{1,200}$/;

function encodeRecord(value: object, walk: Walk): string {
  refuseSymbols(value, walk);
  let text = '';
  for (const property of sorted(Object.keys(value))) {
    // The name comes from the object's own keys.
    const item = (value as Readonly<Record<string, unknown>>)[property];
    if (item === undefined) continue;
    if (text !== '') text += ',';
    text += `${BARE_PROPERTY.test(property) ? property : quote(property)}:${encodeMember(item, property, walk)}`;
  }
  return `(${text})`;
}

/** Above this the engine's sort is faster than inserting. */
const MAX_INSERTED = 16;

/** Sorts in place by UTF-16 unit. By insertion, since property lists are short, and a call of `sort` costs more than they do. */
function sorted(properties: string[]): readonly string[] {
  if (properties.length > MAX_INSERTED) return properties.sort();
  properties.forEach((property, i) => {
    let hole = i;
    for (; hole > 0; hole--) {
      const before = properties[hole - 1];
      if (before === undefined || before <= property) break;
      properties[hole] = before;
    }
    properties[hole] = property;
  });
  return properties;
}
