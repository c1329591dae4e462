import { isUtf8 } from 'node:buffer';

import { DecodeError } from './codec-errors.js';
import { TypedReader } from './typed-reader.js';
import type { TypeMap } from './types.js';

/**
 * Reads what `encodeValue` wrote. A fresh value at every call: whoever gets it owns it.
 * @throws DecodeError on anything else; nothing in the bytes is run, and none of it reaches a prototype
 */
export function decodeValue(codec: string, bytes: Buffer, types?: TypeMap): unknown {
  return decodeText(codec, textOf(bytes), types);
}

/** The bytes as text. @throws DecodeError for what is no UTF-8 */
export function textOf(bytes: Buffer): string {
  // Node.js would put U+FFFD in place of what is no UTF-8, and say nothing.
  if (!isUtf8(bytes)) throw new DecodeError('not UTF-8');
  return bytes.toString();
}

/** What `decodeValue` does, for whoever reads the same bytes often. @throws DecodeError */
export function decodeText(codec: string, text: string, types?: TypeMap): unknown {
  if (codec !== 'j' && codec !== 't') throw new DecodeError(`no codec is called '${codec}'`);
  try {
    const tree: unknown = JSON.parse(text);
    return codec === 'j' ? tree : new TypedReader().read(tree, types, 0);
  } catch (error) {
    if (error instanceof DecodeError) throw error;
    // Text that is no JSON, a pattern that is no RegExp, a length no typed array has, the end of the stack.
    throw new DecodeError(error instanceof Error ? error.message : 'unreadable', { cause: error });
  }
}
