import { Buffer } from 'node:buffer';
import { types } from 'node:util';
import { sha256 } from './digest.js';
import { quote } from './escape.js';
import { refuseExtras } from './refuse.js';
import type { Walk } from './walk.js';

/** More bytes than this stand as their SHA-256: their text would not fit into an id. */
const MAX_PLAIN_BYTES = 150;

/** The text of a Date, RegExp, Buffer or typed array; undefined if the value is none of them. Boxed primitives are refused. */
export function encodeBuiltIn(value: object, walk: Walk): string | undefined {
  if (types.isDate(value)) return encodeDate(value, walk);
  if (types.isTypedArray(value)) return encodeBytes(value);
  if (types.isRegExp(value)) return encodeRegExp(value, walk);
  if (types.isBoxedPrimitive(value)) walk.refuse('a boxed primitive (new String, new Number...)');
  return undefined;
}

function encodeDate(value: Date, walk: Walk): string {
  refuseExtras(value, walk);
  return `Date(${Number.isNaN(value.getTime()) ? 'NaN' : value.toISOString()})`;
}

function encodeRegExp(value: RegExp, walk: Walk): string {
  refuseExtras(value, walk);
  // Where a global expression goes on searching is part of what it answers.
  const position = value.lastIndex === 0 ? '' : `,${value.lastIndex}`;
  return `RegExp(${quote(value.source)},${quote(value.flags)}${position})`;
}

/** Node's own class keeps its state in `#private` members, all of which `href` shows; a class that extends it is no URL here. */
export function encodeUrl(value: URL, walk: Walk): string {
  if (Object.keys(value).length > 0) walk.refuse('a URL with a property of its own');
  return `URL(${quote(value.href)})`;
}

/** By type and bytes. Named properties are not looked for: listing them would list every index. */
function encodeBytes(value: NodeJS.TypedArray): string {
  const type = Buffer.isBuffer(value) ? 'Buffer' : value[Symbol.toStringTag];
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return `${type}(${bytes.length > MAX_PLAIN_BYTES ? `#${sha256(bytes)}` : bytes.toString('base64url')})`;
}
