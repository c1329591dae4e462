import { FIXED_HEADER, ID, SOFT_AT, WIRE_VERSION } from '../core/entry/header.js';

const VERSION_BYTE = WIRE_VERSION.charCodeAt(0);
const SOURCE_VERSION = { start: 30, end: 46 } as const;
const NO_VERSION = '0'.repeat(16);

/** The token of the lease that wrote the entry; empty for bytes that are no entry. */
export function entryId(bytes: Buffer): string {
  return bytes.length < FIXED_HEADER ? '' : bytes.toString('latin1', ID.start, ID.end);
}

/** Fresh by the store's time, of this wire version, and not the one the caller found unusable. */
export function isUsable(bytes: Buffer, rejectedId: string, now: number): boolean {
  return softAt(bytes) > now && entryId(bytes) !== rejectedId;
}

/** Whether both carry a source version, and that of `stored` is the greater one. */
export function isNewerThan(stored: Buffer, bytes: Buffer): boolean {
  const version = sourceVersion(bytes);
  // Of one width, so text compares as the numbers would.
  return version !== NO_VERSION && sourceVersion(stored) > version;
}

/** The entry made stale as of now, in a new buffer; undefined: it was not fresh. */
export function staleAsOf(bytes: Buffer, now: number): Buffer | undefined {
  if (!(softAt(bytes) > now)) return undefined;
  const stale = Buffer.from(bytes);
  stale.write(String(now).padStart(SOFT_AT.end - SOFT_AT.start, '0'), SOFT_AT.start, 'latin1');
  return stale;
}

/** Not a number for bytes that are no entry: not greater than anything. */
function softAt(bytes: Buffer): number {
  if (!isEntry(bytes)) return NaN;
  return Number(bytes.toString('latin1', SOFT_AT.start, SOFT_AT.end));
}

function sourceVersion(bytes: Buffer): string {
  if (!isEntry(bytes)) return NO_VERSION;
  return bytes.toString('latin1', SOURCE_VERSION.start, SOURCE_VERSION.end);
}

function isEntry(bytes: Buffer): boolean {
  return bytes.length >= FIXED_HEADER && bytes[0] === VERSION_BYTE;
}
