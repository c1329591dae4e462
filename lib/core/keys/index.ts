export { keyDigest } from './digest.js';
export { encodeArgs, encodeKey, encodePart, encodeParts } from './encode.js';
export { entryKey, type EntryKey } from './entry-key.js';
export type { Key, KeyPart } from './key-part.js';
export { UnencodableKeyPart, type PathSegment } from './unencodable-key-part.js';
