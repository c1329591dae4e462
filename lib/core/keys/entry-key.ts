import { keyDigest, sha256 } from './digest.js';
import { encodePart } from './encode.js';
import { escapeName } from './escape.js';
import type { KeyPart } from './key-part.js';

/** What the key names of one entry are made from. */
export interface EntryKey {
  /**
   * The text inside the hash tag of `<namespace>:d:{id}`: printable ASCII without space, `{` and `}`, never empty, at most
   * 200 characters.
   */
  readonly id: string;
  /** `keyDigest(id)`: stands in the entry and tells that a reply belongs to this key. */
  readonly digest: string;
}

/** Ids longer than this are hashed. */
export const MAX_ID_LENGTH = 200;

/** How much of the name a hashed id keeps for the reader. */
const MAX_NAME_LENGTH = 80;

/**
 * `<name>:<args>`, or `<name>@<vary>:<args>`. Longer than 200 characters it becomes `<start of the name>:#<SHA-256 of the
 * whole text>`; no other id has `#` after that colon, since every string in it has its `#` escaped.
 *
 * @param name the entry's name as the user gave it; undefined for a key without one
 * @param vary the vary part itself, not its text; undefined for none
 * @param encodedArgs what `encodeArgs` or `encodeKey` returned
 * @throws UnencodableKeyPart for the vary part
 */
export function entryKey(name: string | undefined, vary: KeyPart, encodedArgs: string): EntryKey {
  const owner = escapeName(name);
  const text = vary === undefined ? `${owner}:${encodedArgs}` : `${owner}@${encodePart(vary)}:${encodedArgs}`;
  const id = text.length <= MAX_ID_LENGTH ? text : `${owner.slice(0, MAX_NAME_LENGTH)}:#${sha256(text)}`;
  return { id, digest: keyDigest(id) };
}
