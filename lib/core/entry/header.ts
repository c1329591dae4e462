import type { Compression } from '../codec/index.js';
import { MAX_STORED_TAGS } from '../tags.js';

/**
 * The wire format of an entry, version 2: a fixed-width ASCII header that Lua reads without touching the payload, a short
 * ASCII block, then the payload.
 *
 * | bytes | field |
 * | --- | --- |
 * | 0 | wire version, `2` |
 * | 1 | kind: `v` value, `n` negative value, `e` negative error |
 * | 2 | compression of the payload: `-` none, `b` brotli, `g` gzip, `d` deflate, `z` zstd |
 * | 3 | codec of the payload: `j` JSON, `t` typed JSON, `x` a serializer named in the block |
 * | 4–16 | soft expiry, store time in ms, 13 digits |
 * | 17–29 | begin of the load, store time in ms, 13 digits |
 * | 30–45 | source version, 16 digits, 0 = none |
 * | 46–67 | id: the token of the lease that wrote it, 22 base64url characters |
 * | 68–71 | length of the block, 4 digits |
 * | 72– | block: `size,cost,born,ttl,hard,epoch,digest[,serializer[,tag]…]`, a tag is `id~hard~soft` |
 *
 * `size` is the payload's as stored, in bytes: what was cut is no entry. `cost` is what the load took; `born`, counted from the begin of the load, is when the value was current (the load's end,
 * or what `asOf` said), and empty where that is `cost`; `ttl` the drawn soft life and `hard` the life in the store, from
 * then; all in ms. `epoch` is what `clear` had raised it to, empty for 0, and `tag` what the tag's token was, before the
 * load began. `digest` ties the entry to its key.
 */
export const WIRE_VERSION = '2';
export const SOFT_AT = { start: 4, end: 17 } as const;
export const ID = { start: 46, end: 68 } as const;
/** Bytes a script must read to judge an entry. */
export const FIXED_HEADER = 68;
const BLOCK = 72;
/** Fields of the block before the serializer's name and the tags. */
const FIXED_FIELDS = 7;

export type EntryKind = 'value' | 'negative' | 'error';
export type Codec = 'j' | 't' | 'x';

/** A tag of an entry, with the tokens the entry depends on. */
export interface EntryTag {
  readonly id: string;
  readonly hard: string;
  readonly soft: string;
}

export interface EntryHeader {
  readonly kind: EntryKind;
  /** Of the payload; undefined: it lies there as it is. */
  readonly compression?: Compression | undefined;
  readonly codec: Codec;
  /** Store time, ms, at which the entry stops being fresh. */
  readonly softAt: number;
  /** Store time, ms, at which its load began. */
  readonly loadStart: number;
  readonly sourceVersion: number;
  readonly id: string;
  /** Of the payload as it lies in the store, bytes. */
  readonly size: number;
  /** What the load took, ms. */
  readonly cost: number;
  /** Store time, ms, at which the value was current: the end of its load, or what `asOf` said. */
  readonly bornAt: number;
  /** Soft life as drawn, ms. */
  readonly ttl: number;
  /** Life in the store, ms, from the same moment. */
  readonly hard: number;
  /** The epoch known before the load began; 0: nothing had ever been cleared. */
  readonly epoch: number;
  readonly digest: string;
  /** Its tags as they stood before the load. */
  readonly tags: readonly EntryTag[];
  /** Name of the custom serializer, with codec `x`. */
  readonly serializer?: string | undefined;
}

const KIND_LETTER = { value: 'v', negative: 'n', error: 'e' } as const;
const LETTER_KIND: Readonly<Record<string, EntryKind>> = { v: 'value', n: 'negative', e: 'error' };
const NOT_COMPRESSED = '-';
const COMPRESSION_LETTER = { brotli: 'b', gzip: 'g', deflate: 'd', zstd: 'z' } as const;
const LETTER_COMPRESSION: Readonly<Record<string, Compression>> = {
  b: 'brotli',
  g: 'gzip',
  d: 'deflate',
  z: 'zstd',
};
const MAX_MS = 9_999_999_999_999;

/** Header and block as the bytes before the payload. */
export function encodeHeader(header: EntryHeader): Buffer {
  const block = encodeBlock(header);
  const { compression } = header;
  const letter = compression === undefined ? NOT_COMPRESSED : COMPRESSION_LETTER[compression];
  const fixed =
    `${WIRE_VERSION}${KIND_LETTER[header.kind]}${letter}${header.codec}` +
    digits(header.softAt, 13) +
    digits(header.loadStart, 13) +
    digits(header.sourceVersion, 16) +
    header.id +
    digits(block.length, 4);
  return Buffer.from(fixed + block, 'latin1');
}

function encodeBlock(header: EntryHeader): string {
  const { size, cost, ttl, hard, epoch, digest, serializer, tags } = header;
  const born = Math.round(header.bornAt - header.loadStart);
  // What is as usual takes no room.
  const fields = [
    size,
    whole(cost),
    born === whole(cost) ? '' : born,
    whole(ttl),
    whole(hard),
    epoch || '',
    digest,
  ];
  if (serializer !== undefined || tags.length > 0)
    fields.push(serializer === undefined ? '' : encodeURIComponent(serializer));
  for (const tag of tags) fields.push(`${tag.id}~${tag.hard}~${tag.soft}`);
  return fields.join(',');
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
  const letter = fixed.charAt(2);
  const compression = LETTER_COMPRESSION[letter];
  if (kind === undefined || (compression === undefined && letter !== NOT_COMPRESSED)) return undefined;
  const codec = fixed.charAt(3);
  if (!isCodec(codec)) return undefined;
  const headLength = BLOCK + number(fixed, 68, 72);
  if (Number.isNaN(headLength) || bytes.length < headLength) return undefined;
  const fields = bytes.toString('latin1', BLOCK, headLength).split(',');
  // More tags than an entry can have: it was not written by this package.
  if (fields.length > FIXED_FIELDS + 1 + MAX_STORED_TAGS) return undefined;
  const header = toHeader(kind, compression, codec, fixed, fields);
  return header?.size === bytes.length - headLength ? { header, headLength } : undefined;
}

function toHeader(
  kind: EntryKind,
  compression: Compression | undefined,
  codec: Codec,
  fixed: string,
  fields: readonly string[],
): EntryHeader | undefined {
  const [size = '', cost = '', born = '', ttl = '', hard = '', epoch = '', digest = '', name = ''] = fields;
  const serializer = name === '' ? undefined : decodeName(name);
  const loadStart = number(fixed, 17, 30);
  const took = number(cost);
  // One literal, so that all headers have one shape: it is read at every hit.
  const header: EntryHeader = {
    kind,
    compression,
    codec,
    softAt: number(fixed, 4, 17),
    loadStart,
    sourceVersion: number(fixed, 30, 46),
    id: fixed.slice(ID.start, ID.end),
    size: number(size),
    cost: took,
    bornAt: loadStart + (born === '' ? took : signed(born)),
    ttl: number(ttl),
    hard: number(hard),
    epoch: epoch === '' ? 0 : number(epoch),
    digest,
    tags: fields.length > FIXED_FIELDS + 1 ? parseTags(fields) : NO_TAGS,
    serializer,
  };
  if (digest === '' || (codec === 'x') !== (serializer !== undefined)) return undefined;
  return header.tags === INVALID_TAGS || Number.isNaN(sumOf(header)) ? undefined : header;
}

/** NaN if one of the numbers is none. */
function sumOf(header: EntryHeader): number {
  const { softAt, sourceVersion, size, bornAt, ttl, hard, epoch } = header; // the rest went into `bornAt`
  return softAt + sourceVersion + size + header.cost + bornAt + ttl + hard + epoch;
}

const NO_TAGS: readonly EntryTag[] = [];
const INVALID_TAGS: readonly EntryTag[] = [];

function parseTags(fields: readonly string[]): readonly EntryTag[] {
  const tags = fields.slice(FIXED_FIELDS + 1).map(parseTag);
  return tags.every((tag) => tag !== undefined) ? tags : INVALID_TAGS;
}

function parseTag(text: string): EntryTag | undefined {
  const [id, hard, soft, more] = text.split('~');
  if (!id || !hard || soft === undefined || more !== undefined) return undefined;
  return { id, hard, soft };
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

function signed(text: string): number {
  return /^-?\d{1,13}$/.test(text) ? Number(text) : NaN;
}

/** Digits and nothing else, from `start` to `end`; NaN for any other text. */
function number(text: string, start = 0, end = text.length): number {
  if (start === end) return NaN;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return NaN;
    value = value * 10 + digit;
  }
  return value;
}

function whole(ms: number): number {
  return Math.min(MAX_MS, Math.max(0, Math.round(ms)));
}

function digits(value: number, width: number): string {
  return String(Math.max(0, Math.round(value)))
    .padStart(width, '0')
    .slice(-width);
}
