import type { Runtime } from '../core/ports.js';

export type StateListener = (state: 'up' | 'down', reason: string) => void;

export interface RedisStoreOptions {
  /** URL, ioredis options, `{ nodes, options }`, `{ sentinels, … }`, or an ioredis instance. */
  readonly connection: unknown;
  /** First part of every key and channel. Not empty, without `{`, `}` and control characters. */
  readonly namespace: string;
  readonly runtime: Runtime;
  /** The local wall clock in epoch ms, used until the server's is known. Default: `Date.now()`. */
  readonly epochGuess?: number;
  /** How far a process may lag behind the changes of others, ms: the heartbeat's measure. Default 1000. */
  readonly maxLag?: number;
  /** The server itself is asked to tell of changes of entries' keys (`CLIENT TRACKING`). Default: it is not. */
  readonly tracking?: boolean;
  /** The connection for commands became usable or ceased to be; once per change. The first change comes from `open()`. */
  readonly onState?: StateListener;
  /** The same for the connection that wake-ups arrive on. */
  readonly onPush?: StateListener;
}
