import type { StoredFacts } from '../core/store.js';
import { parseLiveLease } from './lease-record.js';

/** What `peek` tells, of the bytes and of the script's reply `[now, ttlMs, lease, expiresIn]`. */
export function storedFacts(
  bytes: Buffer | null,
  [now, ttlMs, value, expiresIn]: readonly unknown[],
): StoredFacts {
  const lease = parseLiveLease(String(value));
  return {
    bytes,
    ttlMs: bytes === null ? 0 : Math.max(0, Number(ttlMs)),
    now: Number(now),
    ...(lease !== undefined && { lease: { ...lease, expiresIn: Math.max(0, Number(expiresIn)) } }),
  };
}
