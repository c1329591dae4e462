import type { FactoryProvider, ModuleMetadata, Provider, Type } from '@nestjs/common';
import type { CacheOptions } from '../../core/cache-options.js';
import type { ClientLike, ClusterOption } from '../../redis/index.js';

/**
 * How to reach Redis: a URL, ioredis options (with `sentinels` for Sentinel), `{ nodes, options }` for a Cluster, or an
 * ioredis `Redis` or `Cluster` instance, which is never closed by the module.
 */
export type RedisConnection =
  string | ClientLike | ClusterOption | { readonly [option: string]: unknown } | object;

/** The options of one cache. Durations are milliseconds or carry their unit. */
export interface StampedeCacheModuleOptions extends CacheOptions {
  /** Where entries live. @default the memory of this process */
  readonly redis?: RedisConnection;
  /**
   * First part of every key and channel; without `{`, `}` and control characters. Required with `redis`.
   * @default of a named cache: `<default cache's>.<name>`
   */
  readonly namespace?: string;
  /** false, or `STAMPEDE_CACHE=off` in the environment: everything goes straight to the method. @default true */
  readonly enabled?: boolean;
  /** Redis that can't be reached at bootstrap fails it. @default false */
  readonly requireRedis?: boolean;
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
