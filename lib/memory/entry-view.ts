import { FIXED_HEADER, ID, SOFT_AT, WIRE_VERSION } from '../core/entry/header.js';

const VERSION_BYTE = WIRE_VERSION.charCodeAt(0);

/** The token of the lease that wrote the entry; empty for bytes that are no entry. */
export function entryId(bytes: Buffer): string {
  return bytes.length < FIXED_HEADER ? '' : bytes.toString('latin1', ID.start, ID.end);
}

/** Fresh by the store's time, of this wire version, and not the one the caller found unusable. */
export function isUsable(bytes: Buffer, rejectedId: string, now: number): boolean {
  if (bytes.length < FIXED_HEADER || bytes[0] !== VERSION_BYTE) return false;
  // Not a number: not greater either.
  return Number(bytes.toString('latin1', SOFT_AT.start, SOFT_AT.end)) > now && entryId(bytes) !== rejectedId;
}
