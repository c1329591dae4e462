import { UncacheableValue } from './codec-errors.js';
import { isPlainJson } from './plain.js';
import { TypedWriter } from './typed-writer.js';
import type { TypeMap } from './types.js';

/** A value as bytes. `j`: plain JSON, `t`: typed JSON (see wire.ts). */
export interface Encoded {
  readonly codec: 'j' | 't';
  readonly bytes: Buffer;
}

/**
 * Writes a value so that `decodeValue` gives an equal one of the same types, or refuses it. What equality leaves out is
 * lost: the stack of errors, frozenness, non-enumerable properties, getters (they are read), and that one object stood
 * at two places.
 * @throws UncacheableValue
 */
export function encodeValue(value: unknown, types?: TypeMap): Encoded {
  // Found through the prototype of arrays also where it is on the root prototype.
  if ('toJSON' in Array.prototype) {
    throw new UncacheableValue(
      '',
      'not safe from toJSON',
      'remove it from Object.prototype or Array.prototype',
    );
  }
  const plain = isSurelyPlain(value);
  try {
    return plain
      ? { codec: 'j', bytes: Buffer.from(JSON.stringify(value)) }
      : { codec: 't', bytes: Buffer.from(JSON.stringify(new TypedWriter().writeRoot(value, types))) };
  } catch (error) {
    if (error instanceof UncacheableValue) throw error;
    const cause = { cause: error };
    throw error instanceof RangeError && /string length/.test(error.message)
      ? new UncacheableValue('', 'too large', 'its JSON text would be longer than a string can be', cause)
      : new UncacheableValue('', 'out of reach', 'reading or writing it threw, see the cause', cause);
  }
}

function isSurelyPlain(value: unknown): boolean {
  try {
    return isPlainJson(value, 0, []);
  } catch {
    // A getter or a proxy of the value threw; the writer meets it again and can say where.
    return false;
  }
}
