const THOUSANDS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** `12,345` */
export function count(value: number): string {
  return THOUSANDS.format(value);
}

/** `7 ms`, `1.25 s` */
export function milliseconds(value: number): string {
  if (value < 9.95) return `${value.toFixed(1)} ms`;
  return value < 999.5 ? `${value.toFixed(0)} ms` : `${(value / 1_000).toFixed(2)} s`;
}
