import type { FactoryProvider, ModuleMetadata, Provider, Type } from '@nestjs/common';
import type { LoadsOptions } from '../../core/cache-options.js';
import type { Duration } from '../../core/duration.js';
import type { KeyPart } from '../../core/keys/index.js';
import type { AnyPolicy } from '../../core/policy/index.js';
import type { ClientLike, ClusterOption } from '../../redis/index.js';

/**
 * How to reach Redis: a URL, ioredis options (with `sentinels` for Sentinel), `{ nodes, options }` for a Cluster, or an
 * ioredis `Redis` or `Cluster` instance, which is never closed by the module.
 */
export type RedisConnection =
  string | ClientLike | ClusterOption | { readonly [option: string]: unknown } | object;

/** The options of one cache. Durations are milliseconds or carry their unit. */
export interface StampedeCacheModuleOptions {
  /** Where entries live. @default the memory of this process */
  readonly redis?: RedisConnection;
  /**
   * First part of every key and channel; without `{`, `}` and control characters. Required with `redis`.
   * @default of a named cache: `<default cache's>.<name>`
   */
  readonly namespace?: string;
  /** Defaults under every entry's own policy. @default none */
  readonly policy?: AnyPolicy;
  /** What stands in front of the origin, per process. */
  readonly loads?: LoadsOptions;
  /** Budget of the read and the acquire of one call; beyond it the call goes on without Redis. @default '100ms' */
  readonly redisTimeout?: Duration;
  /** Budget of one write, off the request path, and of an invalidation. @default '1s' */
  readonly redisWriteTimeout?: Duration;
  /** A key part that every key carries, read in the caller's async context; undefined throws. @default none */
  readonly vary?: () => KeyPart;
  /** Read in the caller's async context: true goes straight to the method, nothing is read or stored. @default none */
  readonly bypass?: () => boolean;
  /** false, or `STAMPEDE_CACHE=off` in the environment: everything goes straight to the method. @default true */
  readonly enabled?: boolean;
  /** Redis that can't be reached at bootstrap fails it. @default false */
  readonly requireRedis?: boolean;
  /** Larger values are returned and not stored, with one warning. @default 8 MiB */
  readonly maxValueBytes?: number;
}

/** What says where the cache is visible and what it is called. */
export interface StampedeCacheModuleExtras {
  /** A second, separate cache in the application. @default the default cache */
  readonly name?: string;
  /** Whether every module can inject the service. @default true */
  readonly isGlobal?: boolean;
}

/** What a factory returns. `name` and `isGlobal` stand beside the factory: Nest needs them before it runs. */
export type StampedeCacheFactoryOptions = StampedeCacheModuleOptions & {
  readonly [K in keyof StampedeCacheModuleExtras]?: never;
};

/** A class that makes the options, for `useClass` and `useExisting`. */
export interface StampedeCacheOptionsFactory {
  createStampedeCacheOptions(): Promise<StampedeCacheFactoryOptions> | StampedeCacheFactoryOptions;
}

/** The options of `forRootAsync`: one of `useFactory`, `useClass` and `useExisting`. */
export interface StampedeCacheModuleAsyncOptions
  extends StampedeCacheModuleExtras, Pick<ModuleMetadata, 'imports'> {
  /** Makes the options from what `inject` names. */
  readonly useFactory?: FactoryProvider<StampedeCacheFactoryOptions>['useFactory'];
  readonly inject?: FactoryProvider['inject'];
  /** A class that is made here and asked for the options. */
  readonly useClass?: Type<StampedeCacheOptionsFactory>;
  /** A provider that is there already and is asked for the options. */
  readonly useExisting?: Type<StampedeCacheOptionsFactory>;
  /** Providers of this module alone, for `inject`. */
  readonly extraProviders?: Provider[];
  /** Providers of the module around, of which those that `inject` names are provided here too. */
  readonly provideInjectionTokensFrom?: Provider[];
}
