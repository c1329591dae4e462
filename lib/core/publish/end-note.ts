import { decodeValue, encodeValue } from '../codec/index.js';
import type { PackedError } from '../entry/index.js';

/**
 * What a load that ended without an entry leaves for those who waited for it.
 * - `error`: they fail alike, instead of trying one after another. An `answer` is one of `negativeErrors`.
 * - `uncacheable`: each process loads once, in parallel, instead of queueing for nothing.
 */
export type EndNote =
  | { readonly kind: 'error'; readonly error: PackedError; readonly answer: boolean }
  | { readonly kind: 'uncacheable' };

const UNCACHEABLE = 'u';
const FAILURE = 'e';
const ANSWER = 'a';

/** One line of text. What can't be packed as it is shrinks to a name. */
export function writeEndNote(note: EndNote): string {
  if (note.kind === 'uncacheable') return UNCACHEABLE;
  const mark = note.answer ? ANSWER : FAILURE;
  try {
    return mark + write(note.error);
  } catch {
    return mark + write({ as: 'remote', name: 'Error', code: undefined });
  }
}

function write(error: PackedError): string {
  const { codec, bytes } = encodeValue(error);
  return `${codec}${bytes.toString('utf8')}`;
}

/** Undefined for what this version can't read: the waiter tries for itself. */
export function readEndNote(text: string): EndNote | undefined {
  if (text === UNCACHEABLE) return { kind: 'uncacheable' };
  const mark = text.charAt(0);
  if (mark !== FAILURE && mark !== ANSWER) return undefined;
  try {
    const error = decodeValue(text.charAt(1), Buffer.from(text.slice(2), 'utf8'));
    return isPackedError(error) ? { kind: 'error', error, answer: mark === ANSWER } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether decoded data has the shape of a packed error; it may come from another version, or from anybody. */
export function isPackedError(data: unknown): data is PackedError {
  if (typeof data !== 'object' || data === null || !('as' in data)) return false;
  const { as, name, own, message } = data as Record<string, unknown>;
  if (as === 'framework') return 'data' in data;
  if (as === 'remote') return typeof name === 'string';
  return (
    as === 'class' &&
    typeof name === 'string' &&
    typeof message === 'string' &&
    typeof own === 'object' &&
    own !== null
  );
}
