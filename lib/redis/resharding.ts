/**
 * Whether a script failed because its slot is on the move, as the server says it or as ioredis wraps it after following
 * redirections in vain.
 */
export function isResharding(error: unknown): boolean {
  return (
    error instanceof Error &&
    /TRYAGAIN|CROSSSLOT|Too many Cluster redirections|^(MOVED|ASK) /.test(error.message)
  );
}
