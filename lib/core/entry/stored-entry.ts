import type { EntryKey } from '../keys/index.js';
import { FIXED_HEADER, ID, parseHeader, type EntryHeader } from './header.js';
import { EncodedPayload } from './payload.js';

/** An entry as read from the store. */
export interface StoredEntry {
  readonly header: EntryHeader;
  readonly payload: EncodedPayload;
  /** Header and block as bytes. */
  readonly headLength: number;
  /** One of its tags was softly expired since: `softAt` is earlier here than the stored bytes say. */
  readonly softened: boolean;
}

/** The entry in `bytes`, or undefined when they are no entry of this key: a miss. Never throws. */
export function parseEntry(bytes: Buffer | null, key: EntryKey): StoredEntry | undefined {
  if (bytes === null) return undefined;
  const parsed = parseHeader(bytes);
  if (parsed === undefined || parsed.header.digest !== key.digest) return undefined;
  const { header, headLength } = parsed;
  return {
    header,
    headLength,
    softened: false,
    payload: new EncodedPayload(header.codec, bytes.subarray(headLength), header.serializer),
  };
}

/**
 * The id under which a script would find these bytes, whatever they are: what is unreadable here must be replaced, once,
 * and only it.
 */
export function rejectedIdOf(bytes: Buffer | null): string {
  return bytes === null || bytes.length < FIXED_HEADER ? '' : bytes.toString('latin1', ID.start, ID.end);
}
