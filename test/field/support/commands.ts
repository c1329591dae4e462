import type { Redis } from 'ioredis';
import type { CommandCounts } from '../../support/command-stats.js';

/** What walks the key space, or drops what it never named. */
const SWEEPING = ['keys', 'scan', 'sscan', 'hscan', 'zscan', 'flushdb', 'flushall', 'randomkey', 'smembers'];

/** Commands that grow with the number of keys there are; none may ever be sent. */
export function sweeping(counts: CommandCounts): string[] {
  return Object.keys(counts).filter((command) => SWEEPING.includes(command));
}

export function total(counts: CommandCounts): number {
  return Object.values(counts).reduce((sum, calls) => sum + calls, 0);
}

/** Fills the server with keys that nobody here may touch: `<prefix>0` and on. One script for each 50,000, or it stalls. */
export async function fill(raw: Redis, prefix: string, count: number, value = 'x'): Promise<void> {
  const script = `for i = ARGV[2], ARGV[3] do redis.call('SET', ARGV[1] .. string.format('%.0f', i), ARGV[4]) end`;
  const STEP = 50_000;
  for (let from = 0; from < count; from += STEP) {
    await raw.eval(script, 0, prefix, from, Math.min(from + STEP, count) - 1, value);
  }
}

/** The longest that anything held this process's event loop up while `run` ran, ms. */
export async function longestStall(run: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - 1);
    last = now;
  }, 1);
  try {
    await run();
  } finally {
    clearInterval(timer);
  }
  return Math.max(longest, performance.now() - last - 1);
}
