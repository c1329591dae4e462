export { Cached } from './nest/decorators/cached.decorator.js';
export { CachedRoute } from './nest/decorators/cached-route.decorator.js';
export { NoCache } from './nest/decorators/no-cache.decorator.js';
export { StampedeCacheInterceptor } from './nest/stampede-cache.interceptor.js';
export { CacheEvict } from './nest/decorators/cache-evict.decorator.js';
export { CachePut } from './nest/decorators/cache-put.decorator.js';
export { asMethodDecorator } from './nest/decorators/as-method-decorator.js';
export { InjectStampedeCache } from './nest/decorators/inject-stampede-cache.decorator.js';
export { StampedeCacheModule } from './nest/stampede-cache.module.js';
export { StampedeCacheService } from './nest/stampede-cache.service.js';
export { StampedeCacheExceptionFilter } from './nest/stampede-cache.exception-filter.js';
export { getStampedeCacheToken } from './nest/stampede-cache.constants.js';
export { currentLoad } from './nest/current-load.js';
export { notFound } from './nest/errors/not-found.js';
export { parseDuration } from './core/duration.js';
export {
  CacheUnavailableError,
  ConfigurationError,
  InvalidationError,
  isStampedeCacheError,
  LoadManyError,
  LoadRejectedError,
  LoadTimeoutError,
  ReentrantLoadError,
  RemoteLoadError,
  StampedeCacheError,
  UncacheableArgumentError,
  UncacheableValueError,
  WaitTimeoutError,
} from './core/errors.js';

export type {
  CachedOptions,
  CachedDecorator,
  AnyMethod,
} from './nest/interfaces/cached-options.interface.js';
export type {
  AsyncMethodOf,
  CachedHandle,
  HandleOf,
  HiddenMethodOf,
} from './nest/interfaces/cached-handle.interface.js';
export type {
  EvictDecorator,
  EvictMethodOptions,
  EvictTagsOptions,
  PutDecorator,
  PutOptions,
} from './nest/interfaces/eviction-options.interface.js';
export type { CachedRouteOptions } from './nest/interfaces/cached-route-options.interface.js';
export type { HttpInputs, HttpOptions, RequestDirective } from './nest/interfaces/http-options.interface.js';
export type { InferringManyLoader, ManyLoader } from './nest/interfaces/many-loader.interface.js';
export type { HoldOffOptions } from './nest/interfaces/hold-off-options.interface.js';
export type {
  RedisConnection,
  StampedeCacheFactoryOptions,
  StampedeCacheModuleAsyncOptions,
  StampedeCacheModuleExtras,
  StampedeCacheModuleOptions,
  StampedeCacheOptionsFactory,
} from './nest/interfaces/stampede-cache-module-options.interface.js';
export type { BreakerOptions, LoadsOptions, PoolOptions } from './core/guard/index.js';
export type { ByteSize } from './core/byte-size.js';
export type { Class, Compression, TypeOption } from './core/codec/index.js';
export type {
  InferringLoadManyContext,
  LoadManyContext,
  ManyOptions,
  ManyPolicy,
} from './core/batch/index.js';
export type { Duration } from './core/duration.js';
export type { EntryInfo } from './core/entries.js';
export type { LoadReason, StampedeCacheEvent, StampedeCacheStats } from './core/events/index.js';
export type { Key, KeyPart } from './core/keys/index.js';
export type { InferringLoadContext, LoadContext } from './core/load/index.js';
export type { Entry, Outcome } from './core/outcome.js';
export type { CallOptions, CompressOptions, ErrorMatcher, Policy, Serializer } from './core/policy/index.js';
