import type { Compression } from '../codec/index.js';
import type { EntryKey } from '../keys/index.js';
import { FIXED_HEADER, ID, parseHeader, type Codec, type EntryHeader } from './header.js';
import { EncodedPayload } from './payload.js';

interface Found<P> {
  readonly header: EntryHeader;
  readonly payload: P;
  /** Header and block as bytes. */
  readonly headLength: number;
  /** One of its tags was softly expired since: `softAt` is earlier here than the stored bytes say. */
  readonly softened: boolean;
}

/** An entry of the store, ready to be read. */
export type StoredEntry = Found<EncodedPayload>;
/** One whose payload is still compressed. */
export type PackedEntry = Found<PackedPayload>;
export type FoundEntry = StoredEntry | PackedEntry;

export interface PackedPayload {
  readonly compression: Compression;
  readonly codec: Codec;
  readonly bytes: Buffer;
  readonly serializer: string | undefined;
}

/** The entry in `bytes`, or undefined when they are no entry of this key: a miss. Never throws. */
export function parseEntry(bytes: Buffer | null, key: EntryKey): FoundEntry | undefined {
  if (bytes === null) return undefined;
  const parsed = parseHeader(bytes);
  if (parsed === undefined || parsed.header.digest !== key.digest) return undefined;
  const { header, headLength } = parsed;
  const { compression, codec, serializer } = header;
  const payload = bytes.subarray(headLength);
  if (compression === undefined)
    return { header, headLength, softened: false, payload: new EncodedPayload(codec, payload, serializer) };
  return { header, headLength, softened: false, payload: { compression, codec, bytes: payload, serializer } };
}

export function isReadable(entry: FoundEntry): entry is StoredEntry {
  return entry.payload instanceof EncodedPayload;
}

/** The entry with its payload as it was before it was compressed. */
export function unpacked(entry: PackedEntry, plain: Buffer): StoredEntry {
  const { codec, serializer } = entry.payload;
  return { ...entry, payload: new EncodedPayload(codec, plain, serializer) };
}

/**
 * The id under which a script would find these bytes, whatever they are: what is unreadable here must be replaced, once,
 * and only it.
 */
export function rejectedIdOf(bytes: Buffer | null): string {
  return bytes === null || bytes.length < FIXED_HEADER ? '' : bytes.toString('latin1', ID.start, ID.end);
}
