/** Milliseconds since the epoch, with fractions: one clock for all processes of this machine. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}
