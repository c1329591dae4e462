/** Decimals have no more digits than that: to read them takes quadratic time, and 8 MB of them would take seconds. */
const MAX_DIGITS = 1_000;
const LIMIT = 10n ** BigInt(MAX_DIGITS);
const DECIMAL = new RegExp(`^(?:0|-?[1-9][0-9]{0,${MAX_DIGITS - 1}})$`);
const HEXADECIMAL = /^-?0x[1-9a-f][0-9a-f]*$/;

/** A bigint as text; a large one in base 16, which is read and written in linear time. */
export function bigintText(value: bigint): string {
  if (-LIMIT < value && value < LIMIT) return String(value);
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

/** Undefined for what {@link bigintText} does not write. */
export function bigintOf(text: string): bigint | undefined {
  if (DECIMAL.test(text)) return BigInt(text);
  if (!HEXADECIMAL.test(text)) return undefined;
  const size = BigInt(text.replace('-', ''));
  if (size < LIMIT) return undefined;
  return text.startsWith('-') ? -size : size;
}
