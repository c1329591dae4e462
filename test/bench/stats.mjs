export function median(values) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length === 0) return values.length > 0 ? values[0] : undefined;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** By nearest rank; `share` is in 0..1. */
export function quantile(values, share) {
  if (values.length === 0) return undefined;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))];
}

export const sum = (values) => values.reduce((total, value) => total + value, 0);
export const most = (values) => values.reduce((highest, value) => Math.max(highest, value), 0);

/** Most of these `[begin, end]` that overlap at any moment. */
export function peakOf(spans) {
  const edges = spans.flatMap(([begin, end]) => [
    [begin, 1],
    [end, -1],
  ]);
  edges.sort(([a, up], [b, down]) => a - b || up - down);
  let now = 0;
  let peak = 0;
  for (const [, step] of edges) {
    now += step;
    peak = Math.max(peak, now);
  }
  return peak;
}

/** `digits` significant ones, so that lines stay readable; whole where the number is large. */
export function rounded(value, digits = 4) {
  if (typeof value !== 'number' || !Number.isFinite(value)) return value;
  return Math.abs(value) >= 10 ** digits ? Math.round(value) : Number(value.toPrecision(digits));
}

/** A generator of numbers in [0, 1) that gives every process of every round the same arrivals (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
