import type { TagState } from '../core/store.js';
import { LONGEST_HOLD_OFF_MS } from './scripts/bounds.js';

/**
 * The value of a tag's key, fixed-width ASCII. Scripts write it, the client supplies what is random in it.
 *
 * | bytes | field |
 * | --- | --- |
 * | 0 | `c` created, `i` invalidated |
 * | 1–13 | when, server ms; no two invalidations of a tag have the same one |
 * | 14–24 | random, 11 base64url characters |
 * | 25–37 | until when no load that begins may store anything, server ms; 0: no hold-off |
 * | 38–50 | last soft expiry, server ms; 0: none |
 * | 51–61 | random of that, 11 base64url characters; dashes: none |
 */
const RECORD = /^([ci])(\d{13})([\w-]{11})(\d{13})(\d{13})([\w-]{11})$/;

const RANDOM_LENGTH = 11;

/** What is random of a part, from a token of 22 characters. */
export function randomPart(token: string): string {
  return token.slice(-RANDOM_LENGTH);
}

/**
 * Undefined for anything that no script of ours wrote.
 * @param latest what its times may be at most, server ms
 */
export function parseTagRecord(text: string, latest = Infinity): TagState | undefined {
  const [, kind, at = '', random = '', heldUntil, softAt = '', softRandom = ''] = RECORD.exec(text) ?? [];
  if (kind === undefined) return undefined;
  const soft = Number(softAt);
  if (Math.max(Number(at), soft) > latest || Number(heldUntil) > latest + LONGEST_HOLD_OFF_MS)
    return undefined;
  return {
    hard: Number(at).toString(36) + random,
    soft: soft === 0 ? '' : soft.toString(36) + softRandom,
    softAt: soft,
    invalidatedAt: kind === 'i' ? Number(at) : 0,
    heldUntil: Number(heldUntil),
  };
}
