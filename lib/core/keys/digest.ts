import { createHash } from 'node:crypto';

/** SHA-256 as base64url text: 43 characters. A string must be ASCII (it is hashed as Latin-1). */
export function sha256(content: string | Uint8Array): string {
  const hash = createHash('sha256');
  return (typeof content === 'string' ? hash.update(content, 'latin1') : hash.update(content)).digest(
    'base64url',
  );
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Two base64url characters for each 12-bit number: four look-ups a digest instead of eight. */
const PAIRS: readonly string[] = Array.from(
  { length: 4096 },
  (_, bits) => BASE64URL.charAt(bits >>> 6) + BASE64URL.charAt(bits & 63),
);

/**
 * The 48-bit digest of an entry's id, as 8 base64url characters. It stands in the entry, so that a reply that belongs to
 * another key is noticed; it is no protection against somebody who wants a collision, and needs none: the id itself is
 * the Redis key.
 *
 * Two multiply-xor lanes with different odd multipliers, finished and crossed by MurmurHash3's `fmix32` constants: the
 * construction of cyrb53 by bryc (public domain, https://github.com/bryc/code/blob/master/jshash/experimental/cyrb53.js);
 * 24 bits of either lane are kept.
 */
export function keyDigest(id: string): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < id.length; i++) {
    const unit = id.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    b = Math.imul(b ^ unit, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return pair(a >>> 12) + pair(a) + pair(b >>> 12) + pair(b);
}

function pair(bits: number): string {
  // The mask keeps the index inside the 4096 pairs; the fallback only satisfies the type.
  return PAIRS[bits & 0xfff] ?? '';
}
