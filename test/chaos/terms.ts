import type { CacheOptions } from '../../lib/core/cache-options.js';
import type { AnyPolicy } from '../../lib/core/policy/index.js';

/** What a key is for: how often it is asked for, under which policy, and how it is changed. */
export interface Group {
  readonly keys: number;
  /** The share of the calls that goes to it. */
  readonly weight: number;
  /** Numbers are ms. */
  readonly policy: { readonly ttl: number; readonly stale: number };
  /** Changed by tag, never by key. */
  readonly tagged?: true;
}

/** Hits, misses, stale values, tags. Enough cold keys to fill the guard as soon as nothing is cached any more. */
export const GROUPS = {
  hot: { keys: 16, weight: 30, policy: { ttl: 10_000, stale: 0 } },
  stale: { keys: 16, weight: 20, policy: { ttl: 200, stale: 20_000 } },
  brief: { keys: 16, weight: 10, policy: { ttl: 250, stale: 0 } },
  tagged: { keys: 16, weight: 15, policy: { ttl: 10_000, stale: 0 }, tagged: true },
  cold: { keys: 4_000, weight: 25, policy: { ttl: 3_000, stale: 0 } },
} as const satisfies Readonly<Record<string, Group>>;

export type GroupName = keyof typeof GROUPS;

/** A key that only its process asks for after an illness: its first hit proves a write and a read. */
export const BEACON = 'beacon';

export const PROCESSES = 4;
/** Small, so that it binds. */
export const CONCURRENCY = 4;
export const MAX_LAG = 250;
export const REDIS_TIMEOUT = 100;
export const REDIS_WRITE_TIMEOUT = 1_000;
export const LOAD_TIMEOUT = 3_000;
export const WAIT_TIMEOUT = 1_500;
/** How long a load takes, ms. */
export const LOAD = { from: 20, to: 60 } as const;
/** Calls a second and process. */
export const RATE = 120;
/** How many of them change something instead. */
export const CHANGES = 0.04;

export const OPTIONS: CacheOptions = {
  redisTimeout: REDIS_TIMEOUT,
  redisWriteTimeout: REDIS_WRITE_TIMEOUT,
  coherence: { maxLag: MAX_LAG },
  loads: { concurrency: CONCURRENCY, queue: 400, queueTimeout: 400 },
};

/** The name of a key: its group, its number. */
export const keyOf = (group: GroupName, number: number): string => `${group}-${number}`;

/** Each key and tag has one process that changes it, one change after the other: versions never overtake each other. */
export const ownerOf = (number: number): number => number % PROCESSES;

export const tagOf = (number: number): string => `shelf-${ownerOf(number)}`;

/** The keys that go with a process's tag. */
export const shelfOf = (owner: number): readonly string[] =>
  Array.from({ length: GROUPS.tagged.keys }, (_, number) => number)
    .filter((number) => ownerOf(number) === owner)
    .map((number) => keyOf('tagged', number));

export function policyOf(key: string): AnyPolicy {
  const [group = '', number = ''] = key.split('-');
  const base = { jitter: 0, loadTimeout: LOAD_TIMEOUT, waitTimeout: WAIT_TIMEOUT };
  if (group === BEACON) return { ...base, ttl: 60_000 };
  const { policy, tagged }: Group = GROUPS[group as GroupName]; // names are made by keyOf
  return { ...base, ...policy, ...(tagged && { tags: [tagOf(Number(number))] }) };
}
