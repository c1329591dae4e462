export { isDueEarly } from './early-refresh.js';
export { ErrorTransport, isFaithful, type FrameworkErrors, type PackedError } from './error-transport.js';
export { freshness, type Freshness, type StaleWindows } from './freshness.js';
export {
  encodeHeader,
  FIXED_HEADER,
  ID,
  parseHeader,
  SOFT_AT,
  WIRE_VERSION,
  type EntryHeader,
  type EntryKind,
  type EntryTag,
} from './header.js';
export { drawLife, type Life } from './life.js';
export { Packing, type PayloadAtRest } from './packing.js';
export {
  EncodedPayload,
  MOST_KEPT,
  encodePayload,
  SharedPayload,
  type Payload,
  type ValueFormat,
} from './payload.js';
export {
  isReadable,
  parseEntry,
  rejectedIdOf,
  unpacked,
  type FoundEntry,
  type PackedEntry,
  type StoredEntry,
} from './stored-entry.js';
