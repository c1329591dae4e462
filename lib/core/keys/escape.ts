import { createHash } from 'node:crypto';

/** Strings longer than this stand as their SHA-256: an id of 200 bytes has no room for them anyway. */
export const MAX_PLAIN_STRING = 200;

// Printable ASCII without space, `%` (the escape), `'` (the quote), `#` (the hash mark), `{` and `}` (the cluster hash tag
// is ours), `"` and `\` (redis-cli would show them escaped once more).
const PLAIN_STRING = /^[!$&(-[\]-z|~]*$/;
const NOT_PLAIN_IN_STRING = /[^!$&(-[\]-z|~]/gu;

// The same without `:` and `@`, which end a name.
const PLAIN_NAME = /^[!$&(-9;-?A-[\]-z|~]+$/;
const NOT_PLAIN_IN_NAME = /[^!$&(-9;-?A-[\]-z|~]/gu;

const LONE_SURROGATE = /^[\ud800-\udfff]$/;

/** A string as key text: quoted, percent-encoded where needed, or `'#<SHA-256>'` when it is long. */
export function quote(text: string): string {
  if (text.length > MAX_PLAIN_STRING) return `'#${hashUtf16(text)}'`;
  if (PLAIN_STRING.test(text)) return `'${text}'`;
  return `'${text.replace(NOT_PLAIN_IN_STRING, escapeCharacter)}'`;
}

/** The name of an entry as key text. The empty name is `%`, which no escape produces; no name at all is nothing. */
export function escapeName(name: string | undefined): string {
  if (name === undefined) return '';
  if (PLAIN_NAME.test(name)) return name;
  return name === '' ? '%' : name.replace(NOT_PLAIN_IN_NAME, escapeCharacter);
}

/** Escapes what `unsafe` matches, which must have the flags `gu` and match `%`. */
export function percentEncode(text: string, unsafe: RegExp): string {
  return text.replace(unsafe, escapeCharacter);
}

/** `%00` to `%7F`: most of what is escaped is a space or a quote. */
const ASCII_ESCAPES: readonly string[] = Array.from(
  { length: 128 },
  (_, code) => `%${code.toString(16).toUpperCase().padStart(2, '0')}`,
);

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0);
  const ascii = ASCII_ESCAPES[code];
  if (ascii !== undefined) return ascii;
  // UTF-8 has no bytes for a lone surrogate; `%u` cannot be the start of a percent-encoded byte.
  if (LONE_SURROGATE.test(character)) return `%u${code.toString(16).toUpperCase()}`;
  return encodeURIComponent(character);
}

/** Over UTF-16 and not UTF-8, where all lone surrogates are the same three bytes. */
function hashUtf16(text: string): string {
  return createHash('sha256').update(text, 'utf16le').digest('base64url');
}
