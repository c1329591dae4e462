/** A number of **bytes**, or a number with its unit; 1 kb is 1,024 bytes. */
export type ByteSize = number | `${number}b` | `${number}kb` | `${number}mb`;

const GRAMMAR = /^(\d+(?:\.\d+)?)(b|kb|mb)$/;
const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1_024, mb: 1_024 * 1_024 };

/** Whole bytes of what a user gave as a size; undefined for what is none. */
export function byteSize(size: unknown): number | undefined {
  if (typeof size === 'number') return Number.isInteger(size) && size >= 0 ? size : undefined;
  const [, number, unit] = (typeof size === 'string' && GRAMMAR.exec(size)) || [];
  return unit === undefined ? undefined : Math.ceil(Number(number) * (UNITS[unit] ?? NaN));
}
