import { types } from 'node:util';

import { toBase64 } from './binary.js';
import type { Refusal } from './refusal.js';
import * as wire from './wire.js';

/** What a built-in object of text, numbers or bytes is on the wire, or why it is refused. */
export function textOf(value: object, name: string): string | readonly unknown[] | Refusal {
  if (types.isDate(value)) {
    const time = value.getTime();
    return Number.isNaN(time) ? wire.DATE : wire.DATE + String(time);
  }
  if (ArrayBuffer.isView(value)) return viewText(value, name);
  if (types.isArrayBuffer(value)) return [`${wire.BINARY}ArrayBuffer`, toBase64(value)];
  if (types.isRegExp(value)) return regExpText(value);
  if (value instanceof URLSearchParams) return [wire.SEARCH_PARAMS, value.toString()];
  // All that is left of what `builtInOf` names.
  return urlText(value as URL);
}

export function isRefusal(text: string | readonly unknown[] | Refusal): text is Refusal {
  return typeof text === 'object' && !Array.isArray(text);
}

/** A number JSON has no text for. */
export function numberMark(value: number): string {
  if (value === 0) return wire.MINUS_ZERO;
  if (Number.isNaN(value)) return wire.NOT_A_NUMBER;
  return value > 0 ? wire.INFINITE : wire.MINUS_INFINITE;
}

function viewText(view: ArrayBufferView, name: string): string | readonly unknown[] | Refusal {
  if (types.isSharedArrayBuffer(view.buffer)) {
    return { what: 'a view of shared memory', fix: 'copy it, as with Buffer.from(view)' };
  }
  return name === 'Buffer' ? wire.BUFFER + toBase64(view) : [wire.BINARY + name, toBase64(view)];
}

function regExpText(pattern: RegExp): readonly unknown[] | Refusal {
  const lastIndex: unknown = pattern.lastIndex;
  if (!Number.isSafeInteger(lastIndex) || Object.is(lastIndex, -0)) {
    return { what: 'a RegExp whose lastIndex is no whole number', fix: 'set it to 0' };
  }
  return [wire.REG_EXP, pattern.source, pattern.flags, lastIndex];
}

function urlText(url: URL): string | Refusal {
  const { href } = url;
  // Parsing is not always the inverse of writing; where it is not, the copy would be another address.
  if (!URL.canParse(href) || new URL(href).href !== href) {
    return { what: `a URL that does not survive its own text (${href})`, fix: 'return its text' };
  }
  return wire.URL_TEXT + href;
}
