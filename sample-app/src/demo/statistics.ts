/** The smallest value that at least this fraction (0 to 1) of all values do not exceed (nearest rank); NaN without any. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.max(Math.ceil(fraction * sorted.length), 1);
  return sorted[rank - 1] ?? Number.NaN;
}

/** How many of these moments (>= 0) fall into each interval of `width`, up to `end`; what is later is left out. */
export function buckets(moments: readonly number[], width: number, end: number): number[] {
  const counts = Array.from({ length: Math.ceil(end / width) }, () => 0);
  for (const moment of moments) {
    const index = Math.floor(moment / width);
    const before = counts[index];
    if (before !== undefined) counts[index] = before + 1;
  }
  return counts;
}
