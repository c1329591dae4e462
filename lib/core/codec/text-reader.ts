import { bigintOf } from './bigint-text.js';
import { binaryOf, bytesOf, isBinaryName } from './binary.js';
import { DecodeError } from './codec-errors.js';
import * as wire from './wire.js';

/** A string that begins with the mark character. */
export function readMark(text: string): unknown {
  const rest = text.slice(2);
  switch (text.slice(0, 2)) {
    case '~~':
      return text.slice(1);
    case wire.DATE:
      return readDate(rest);
    case wire.BIGINT:
      return bigintOf(rest) ?? malformed(text);
    case wire.BUFFER:
      return bytesOf(rest);
    case wire.URL_TEXT: {
      const url = new URL(rest);
      return url.href === rest ? url : malformed(text);
    }
  }
  if (rest !== '') return malformed(text);
  switch (text) {
    case wire.UNDEFINED:
      return undefined;
    case wire.NOT_A_NUMBER:
      return Number.NaN;
    case wire.INFINITE:
      return Number.POSITIVE_INFINITY;
    case wire.MINUS_INFINITE:
      return Number.NEGATIVE_INFINITY;
    case wire.MINUS_ZERO:
      return -0;
    default:
      return malformed(text);
  }
}

function readDate(text: string): Date {
  if (text === '') return new Date(Number.NaN);
  const date = new Date(Number(text));
  return String(date.getTime()) === text ? date : malformed(wire.DATE + text);
}

/** The containers that hold nothing but text and numbers. */
export function readText(head: string, tree: readonly unknown[]): unknown {
  const [, first, flags, lastIndex] = tree;
  if (typeof first !== 'string') return malformed(head);
  if (
    head === wire.REG_EXP &&
    tree.length === 4 &&
    typeof flags === 'string' &&
    Number.isSafeInteger(lastIndex)
  ) {
    const pattern = new RegExp(first, flags);
    pattern.lastIndex = Number(lastIndex);
    return pattern.source === first && pattern.flags === flags ? pattern : malformed(head);
  }
  if (tree.length !== 2) return malformed(head);
  if (head === wire.SEARCH_PARAMS) {
    const parameters = new URLSearchParams(first);
    return parameters.toString() === first ? parameters : malformed(head);
  }
  const name = head.slice(wire.BINARY.length);
  return isBinaryName(name) ? binaryOf(name, first) : malformed(head);
}

export function malformed(mark: string): never {
  throw new DecodeError(`malformed ${mark.slice(0, 40)}`);
}
