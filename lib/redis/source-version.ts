/** Where an entry carries its source version: 16 digits. */
const SOURCE_VERSION = { start: 30, end: 46 } as const;

/** The source version of an entry as it stands in it; empty for none. */
export function sourceVersion(bytes: Buffer): string {
  const digits = bytes.toString('latin1', SOURCE_VERSION.start, SOURCE_VERSION.end);
  return /[1-9]/.test(digits) ? digits : '';
}
