import type { Outcome } from '../outcome.js';

/** Why a load runs. */
export type LoadReason = 'miss' | 'stale' | 'early' | 'scheduled' | 'wait_timeout' | 'redis_down' | 'forced';

interface About {
  /** The encoded key. Unbounded in number: never a metric label. */
  readonly key: string;
  /** The name of the cached method, or `''` for calls without one. Bounded in number. */
  readonly name: string;
  /** Store time of the event, epoch ms. */
  readonly at: number;
}

/** What happened, for tests, operators and metrics. Durations are milliseconds. Nothing is built while nobody listens. */
export type StampedeCacheEvent =
  | (About & {
      readonly type: 'hit';
      readonly outcome: Outcome;
      readonly age: number;
      readonly staleFor: number;
    })
  | (About & { readonly type: 'miss' })
  | (About & { readonly type: 'load.start'; readonly reason: LoadReason; readonly leased: boolean })
  | (About & { readonly type: 'load.end'; readonly reason: LoadReason; readonly duration: number })
  | (About & {
      readonly type: 'load.error';
      readonly reason: LoadReason;
      readonly duration: number;
      readonly error: unknown;
    })
  | (About & { readonly type: 'wait.start' })
  | (About & { readonly type: 'wait.end'; readonly duration: number })
  | (About & { readonly type: 'wait.timeout'; readonly duration: number })
  | (About & { readonly type: 'publish'; readonly result: 'stored' | 'fenced' | 'skipped' })
  | (About & { readonly type: 'lease.lost' })
  | (About & {
      readonly type: 'invalidate';
      /** What was changed. `key`: of the event; `tag`: its id stands in `key`; `name`: all entries of a name; `all`. */
      readonly scope: 'key' | 'tag' | 'name' | 'all';
      /** Old values are served until they are refreshed. */
      readonly soft: boolean;
      /** `failed`: the store did not acknowledge it; `retried`: it did in the end. */
      readonly result: 'done' | 'failed' | 'retried';
    })
  | (About & { readonly type: 'rejected'; readonly retryAfter: number })
  | {
      readonly type: 'redis.down';
      readonly key: '';
      readonly name: '';
      readonly at: number;
      readonly reason: string;
    }
  /** Copies in this process were dropped: changes may have been missed. */
  | { readonly type: 'l1.flush'; readonly key: ''; readonly name: ''; readonly at: number }
  | { readonly type: 'redis.up'; readonly key: ''; readonly name: ''; readonly at: number };

export type EventListener = (event: StampedeCacheEvent) => unknown;
