import { keyDigest, sha256 } from './digest.js';
import { encodePart } from './encode.js';
import { escapeName } from './escape.js';
import type { KeyPart } from './key-part.js';

/** What the names of one entry's keys are made from. */
export interface EntryKey {
  /**
   * The text inside the hash tag of `<namespace>:d:{id}`: printable ASCII without space, `{` and `}`, never empty, at most
   * 200 characters.
   */
  readonly id: string;
  /**
   * Tells entries of different builds apart, after the hash tag: `<namespace>:d:{id}<variant>`. Empty, or `.` and the version;
   * at most 65 characters of printable ASCII without space, `{` and `}`.
   */
  readonly variant: string;
  /** `keyDigest(id)`: stands in the entry and tells that a reply belongs to this key. */
  readonly digest: string;
}

/** Of what concerns no single entry. */
export const NO_KEY: EntryKey = { id: '', variant: '', digest: '' };

/** Ids longer than this are hashed. */
export const MAX_ID_LENGTH = 200;

const MAX_VARIANT_LENGTH = 64;

/** How much of the name a hashed id keeps for the reader. */
const MAX_NAME_LENGTH = 80;

/** The variant of the entries that carry a `version`. */
export function variantOf(version: string | number | undefined): string {
  if (version === undefined) return '';
  const text = escapeName(String(version));
  return `.${text.length <= MAX_VARIANT_LENGTH ? text : `#${sha256(text)}`}`;
}

/**
 * `<name>:<args>`, or `<name>@<vary>:<args>`. Longer than 200 characters it becomes `<start of the name>:#<SHA-256 of the
 * whole text>`; no other id has `#` after that colon, since every string in it has its `#` escaped.
 *
 * @param name the entry's name as the user gave it; undefined for a key without one
 * @param vary the vary part itself, not its text; undefined for none
 * @param encodedArgs what `encodeArgs` or `encodeKey` returned
 * @param variant as {@link variantOf} returned it
 * @throws UnencodableKeyPart for the vary part
 */
export function entryKey(
  name: string | undefined,
  vary: KeyPart,
  encodedArgs: string,
  variant = '',
): EntryKey {
  const owner = escapeName(name);
  const text = vary === undefined ? `${owner}:${encodedArgs}` : `${owner}@${encodePart(vary)}:${encodedArgs}`;
  const id = text.length <= MAX_ID_LENGTH ? text : `${owner.slice(0, MAX_NAME_LENGTH)}:#${sha256(text)}`;
  return new LazyKey(id, variant);
}

/** The same entry as another build keeps it. */
export function withVariant(key: EntryKey, variant: string): EntryKey {
  return new LazyKey(key.id, variant);
}

/** The digest is asked for by whoever reads or writes an entry: a hit in the process does without. */
class LazyKey implements EntryKey {
  private known: string | undefined;

  constructor(
    readonly id: string,
    readonly variant: string,
  ) {}

  get digest(): string {
    return (this.known ??= keyDigest(this.id));
  }
}

/** What tells entries apart in this process's own tables. */
export function placeOf({ id, variant }: EntryKey): string {
  return variant === '' ? id : `${id} ${variant}`;
}
