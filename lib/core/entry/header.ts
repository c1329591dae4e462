/**
 * The wire format of an entry, version 1: a fixed-width ASCII header that Lua reads without touching the payload, a short
 * ASCII block, then the payload.
 *
 * | bytes | field |
 * | --- | --- |
 * | 0 | wire version, `1` |
 * | 1 | kind: `v` value, `n` negative value, `e` negative error |
 * | 2 | compression: `-` none |
 * | 3 | codec of the payload: `j` JSON, `t` typed JSON, `x` a serializer named in the block |
 * | 4–16 | soft expiry, store time in ms, 13 digits |
 * | 17–29 | begin of the load, store time in ms, 13 digits |
 * | 30–45 | source version, 16 digits, 0 = none |
 * | 46–67 | id: the token of the lease that wrote it, 22 base64url characters |
 * | 68–70 | length of the block, 3 digits |
 * | 71– | block: `cost,ttl,hard,digest[,serializer]` |
 *
 * `cost` is what the load took, `ttl` the drawn soft life, `hard` the life in the store, all in ms; `digest` ties the entry
 * to its key.
 */
export const WIRE_VERSION = '1';
export const SOFT_AT = { start: 4, end: 17 } as const;
export const ID = { start: 46, end: 68 } as const;
/** Bytes a script must read to judge an entry. */
export const FIXED_HEADER = 68;
const BLOCK = 71;

export type EntryKind = 'value' | 'negative' | 'error';
export type Codec = 'j' | 't' | 'x';

export interface EntryHeader {
  readonly kind: EntryKind;
  readonly codec: Codec;
  /** Store time, ms, at which the entry stops being fresh. */
  readonly softAt: number;
  /** Store time, ms, at which its load began. */
  readonly loadStart: number;
  readonly sourceVersion: number;
  readonly id: string;
  /** What the load took, ms. */
  readonly cost: number;
  /** Soft life as drawn, ms: `softAt - ttl` is when the load ended. */
  readonly ttl: number;
  /** Life in the store, ms, from the same moment. */
  readonly hard: number;
  readonly digest: string;
  /** Name of the custom serializer, with codec `x`. */
  readonly serializer?: string;
}

const KIND_LETTER = { value: 'v', negative: 'n', error: 'e' } as const;
const LETTER_KIND: Readonly<Record<string, EntryKind>> = { v: 'value', n: 'negative', e: 'error' };
const MAX_MS = 9_999_999_999_999;

/** Header and block as the bytes before the payload. */
export function encodeHeader(header: EntryHeader): Buffer {
  const serializer = header.serializer === undefined ? '' : `,${encodeURIComponent(header.serializer)}`;
  const block = `${whole(header.cost)},${whole(header.ttl)},${whole(header.hard)},${header.digest}${serializer}`;
  const fixed =
    `${WIRE_VERSION}${KIND_LETTER[header.kind]}-${header.codec}` +
    digits(header.softAt, 13) +
    digits(header.loadStart, 13) +
    digits(header.sourceVersion, 16) +
    header.id +
    digits(block.length, 3);
  return Buffer.from(fixed + block, 'latin1');
}

export interface ParsedEntry {
  readonly header: EntryHeader;
  /** Header and block: what {@link encodeHeader} made. */
  readonly headLength: number;
}

/**
 * Reads what {@link encodeHeader} wrote. Undefined for anything else: another version, a cut or hostile entry. Never throws.
 */
export function parseHeader(bytes: Buffer): ParsedEntry | undefined {
  if (bytes.length < BLOCK || bytes[0] !== WIRE_VERSION.charCodeAt(0)) return undefined;
  const fixed = bytes.toString('latin1', 0, BLOCK);
  const kind = LETTER_KIND[fixed.charAt(1)];
  const codec = fixed.charAt(3);
  if (kind === undefined || fixed.charAt(2) !== '-' || !isCodec(codec)) return undefined;
  const softAt = number(fixed.slice(4, 17));
  const loadStart = number(fixed.slice(17, 30));
  const sourceVersion = number(fixed.slice(30, 46));
  const headLength = BLOCK + number(fixed.slice(68, 71));
  if (Number.isNaN(softAt + loadStart + sourceVersion + headLength) || bytes.length < headLength)
    return undefined;
  const block = bytes.toString('latin1', BLOCK, headLength).split(',');
  const [cost = '', ttl = '', hard = '', digest = '', serializer] = block;
  const life = { cost: number(cost), ttl: number(ttl), hard: number(hard) };
  if (Number.isNaN(life.cost + life.ttl + life.hard) || digest === '') return undefined;
  if ((codec === 'x') !== (serializer !== undefined)) return undefined;
  const name = serializer === undefined ? undefined : decodeName(serializer);
  if (codec === 'x' && name === undefined) return undefined;
  const id = fixed.slice(ID.start, ID.end);
  return {
    header: {
      kind,
      codec,
      softAt,
      loadStart,
      sourceVersion,
      id,
      ...life,
      digest,
      ...(name !== undefined && { serializer: name }),
    },
    headLength,
  };
}

function isCodec(letter: string): letter is Codec {
  return letter === 'j' || letter === 't' || letter === 'x';
}

function decodeName(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function number(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : NaN;
}

function whole(ms: number): number {
  return Math.min(MAX_MS, Math.max(0, Math.round(ms)));
}

function digits(value: number, width: number): string {
  return String(Math.max(0, Math.round(value)))
    .padStart(width, '0')
    .slice(-width);
}
