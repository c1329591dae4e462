export { keyDigest } from './digest.js';
export { encodeArgs, encodeKey, encodePart, encodeParts } from './encode.js';
export { entryKey, NO_KEY, placeOf, variantOf, withVariant, type EntryKey } from './entry-key.js';
export type { Key, KeyPart } from './key-part.js';
export { UnencodableKeyPart, type PathSegment } from './unencodable-key-part.js';
export { tagId } from './tag-id.js';
