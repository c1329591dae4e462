import { getHeapStatistics } from 'node:v8';
import { setImmediate as turn } from 'node:timers/promises';
import { StampedeCache } from '../../lib/core/stampede-cache.js';
import type { AnyPolicy, CallOptions } from '../../lib/core/policy/index.js';
import { createMemoryStore } from '../../lib/memory/index.js';
import { createRedisStore } from '../../lib/redis/index.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';
import { until } from '../support/until.js';

const AT_ONCE = 500;
/** What one table may hold: each of the cache's own is bounded by its capacity, the store's to few entries here. */
const ENTRIES = 1_000;

let cache: StampedeCache;

/** Without a URL: the store of one process, with room for few entries. */
export async function open(url?: string): Promise<void> {
  const runtime = createNodeRuntime({ log: { info: () => undefined, warn: () => undefined } });
  const store =
    url === undefined
      ? createMemoryStore({ runtime, maxEntries: ENTRIES })
      : await createRedisStore({ connection: url, namespace: 'memory', runtime });
  const options = {
    redisTimeout: '10s',
    redisWriteTimeout: '10s',
    loads: { concurrency: 1_000, breaker: false },
  } as const;
  cache = new StampedeCache(options, { store, runtime, holder: 'test' });
  await cache.open();
}

/** Sends so many keys through, none of which was there before: half of the loads fail, some callers are gone first. */
export async function spend(from: number, count: number): Promise<{ failed: number; aborted: number }> {
  const ends = { failed: 0, aborted: 0 };
  for (let next = from; next < from + count; next += AT_ONCE) {
    const keys = Array.from({ length: Math.min(AT_ONCE, from + count - next) }, (_, i) => next + i);
    await Promise.all(
      keys.map((key) =>
        one(key).catch((error: Error) => {
          if (error.message === 'gone') ends.aborted += 1;
          else ends.failed += 1;
        }),
      ),
    );
  }
  return ends;
}

const POLICIES: readonly AnyPolicy[] = [
  { ttl: 50 },
  { ttl: 50, stale: 50, abandon: 'abort' },
  { ttl: 50, staleIfError: 50, fallback: undefined },
  { ttl: 50, negativeTtl: 10 },
];

async function one(key: number): Promise<unknown> {
  const caller = key % 8 === 1 ? new AbortController() : undefined;
  const call: CallOptions = { signal: caller?.signal };
  const policy = POLICIES[key % POLICIES.length];
  const load = async (): Promise<unknown> => {
    caller?.abort(new Error('gone'));
    await turn();
    if (key % 2 === 0) throw new Error(`no ${key}`);
    return key % 7 === 0 ? null : { key, text: `value of ${key}` };
  };
  return ask(key, load, policy, call);
}

function ask(
  key: number,
  load: () => Promise<unknown>,
  policy: AnyPolicy | undefined,
  call: CallOptions,
): Promise<unknown> {
  const { requests } = cache;
  return cache.answer({
    key: requests.keyOf({ name: 'Keys.find' }, undefined, `key number ${key}`, 'Keys.find'),
    name: 'Keys.find',
    policy: requests.policy(policy, 'Keys.find'),
    call: requests.call(call),
    args: [key],
    load,
  });
}

/** What this process holds once nothing is under way, bytes. */
export async function used(): Promise<number> {
  const { gc } = globalThis as { gc?: () => void }; // with --expose-gc
  if (gc === undefined) throw new Error('start this process with --expose-gc');
  // The loads of callers that are gone.
  await until(() => Object.values(cache.stats().active).every((one) => one === 0), {
    what: 'all loads to end',
  });
  let least = Infinity;
  for (let i = 0; i < 4; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc();
    least = Math.min(least, getHeapStatistics().used_heap_size + process.memoryUsage().external);
  }
  return least;
}

/** The size of the largest Map or Set that can be reached from the cache, private fields of the language aside. */
export function largest(): number {
  const seen = new Set<unknown>();
  const waiting: unknown[] = [cache];
  let size = 0;
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null || seen.has(value) || Buffer.isBuffer(value)) continue;
    seen.add(value);
    if (value instanceof Map || value instanceof Set) {
      size = Math.max(size, value.size);
      waiting.push(...value.values());
    }
    waiting.push(...Object.values(value));
  }
  return size;
}

export async function shutdown(): Promise<void> {
  await cache.close();
}
