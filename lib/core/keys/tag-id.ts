import { sha256 } from './digest.js';
import { percentEncode } from './escape.js';

/** Tags whose text is longer are hashed. */
const MAX_LENGTH = 100;

const NOT_PLAIN = /[^A-Za-z0-9_.:/@-]/gu;

/** A tag as part of a key and of an entry: at most 100 characters of `[A-Za-z0-9_.:/@%#-]`. Long ones are hashed, with a `#`. */
export function tagId(tag: string): string {
  const text = percentEncode(tag, NOT_PLAIN);
  return text.length <= MAX_LENGTH ? text : `#${sha256(text)}`;
}
