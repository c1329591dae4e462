import { randomFillSync } from 'node:crypto';
import type { Random } from '../core/ports.js';

const TOKEN_BYTES = 16;
/** One call into the system's generator serves this many tokens. */
const TOKENS_PER_FILL = 256;

export function createRandom(): Random {
  const pool = Buffer.allocUnsafeSlow(TOKEN_BYTES * TOKENS_PER_FILL);
  let used = pool.length;

  return {
    next: () => Math.random(),
    token() {
      if (used === pool.length) {
        randomFillSync(pool);
        used = 0;
      }
      const start = used;
      used += TOKEN_BYTES;
      return pool.toString('base64url', start, used);
    },
  };
}
