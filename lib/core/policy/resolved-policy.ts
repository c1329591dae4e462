import type { TypeMap } from '../codec/index.js';
import type { Class } from '../codec/index.js';
import type { ResolvedCompression } from './compress-option.js';
import type { Serializer } from './policy.js';

/** A policy with every default filled in, every duration in milliseconds and every matcher a function. */
export interface ResolvedPolicy {
  readonly where: string;
  /** Static soft life, or undefined where `ttlOf` computes it. */
  readonly ttl: number | undefined;
  readonly ttlOf: ((value: unknown, ...args: readonly unknown[]) => unknown) | undefined;
  readonly stale: number;
  readonly staleIfError: number;
  readonly negativeTtl: number;
  readonly isNegative: (value: unknown) => boolean;
  readonly isNegativeError: ((error: unknown) => boolean) | undefined;
  readonly cacheIf: ((value: unknown) => boolean) | undefined;
  /** Share of the ttl, or a fixed stretch in ms. */
  readonly jitter: { readonly share: number } | { readonly upTo: number };
  /** Beta, or the window in ms. Undefined: off. */
  readonly earlyRefresh: { readonly beta: number } | { readonly window: number } | undefined;
  readonly coordinate: 'fleet' | 'process' | 'none';
  readonly mayExist: ((...args: readonly unknown[]) => boolean | Promise<boolean>) | undefined;
  readonly lease: number;
  readonly loadTimeout: number;
  readonly softTimeout: number | undefined;
  readonly waitTimeout: number;
  readonly onWaitTimeout: 'error' | 'load';
  readonly abandon: 'finish' | 'abort';
  readonly failureBackoff: number;
  readonly onRedisDown: 'load' | 'error';
  readonly fallback: ((error: unknown, ...args: readonly unknown[]) => unknown) | undefined;
  readonly onUncacheable: 'error' | 'bypass';
  /** Ids of tags, or what computes the tags. Undefined: none. */
  readonly tags: readonly string[] | ((...args: readonly unknown[]) => unknown) | undefined;
  readonly valueTags: ((value: unknown, ...args: readonly unknown[]) => unknown) | undefined;
  readonly types: TypeMap | undefined;
  readonly errors: readonly Class[];
  readonly serializer: Serializer | undefined;
  readonly shared: boolean;
  /** Its serializer reads the bytes at rest, and keeps nothing of them. @default false: it gets a copy */
  readonly lends?: boolean;
  /** Which decoded values nobody can change: one is made for all readers. @default none */
  readonly isLasting?: ((value: unknown) => boolean) | undefined;
  /** Undefined: stored as they are. */
  readonly compress: ResolvedCompression | undefined;
  /** The longest a copy in this process is believed, ms; 0: none is kept. Undefined: as the cache says. */
  readonly l1: number | undefined;
  /** Whether it is the name of a pool is for the cache to say. */
  readonly pool: string;
  readonly vary: unknown;
}
