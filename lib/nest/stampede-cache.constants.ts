/** The name Nest's logger shows for every line of this package. */
export const LOG_CONTEXT = 'StampedeCache';

/** The namespace of a default cache that has none: only without Redis. */
export const DEFAULT_NAMESPACE = 'cache';

/** Internal tokens. `Symbol.for`: two copies of this package in one process share them and do no harm. */
export const CACHE_NAME = Symbol.for('nestjs-stampede-cache.name');
export const CACHE_SETUP = Symbol.for('nestjs-stampede-cache.setup');
export const STORE_FACTORY = Symbol.for('nestjs-stampede-cache.store-factory');

/**
 * The injection token of a cache's service.
 * @param name as given to `forRoot({ name })`; left out for the default cache, whose service is also injected by its class
 */
export function getStampedeCacheToken(name?: string): string {
  return name === undefined ? 'StampedeCacheService' : `StampedeCacheService:${name}`;
}

/** The token of what `@Cached` injects. It depends on nothing, so that no circle can close over it. */
export function getCacheLinkToken(name: string | undefined): string {
  return name === undefined ? 'StampedeCacheLink' : `StampedeCacheLink:${name}`;
}

/** The token of what `@CacheEvict` and `@CachePut` inject: one an application. */
export const EVICTOR_TOKEN = 'StampedeCacheEvictor';

/** The token of what the interceptors of an application share. */
export const ROUTES_TOKEN = 'StampedeCacheRoutes';

/** A cache as messages call it. */
export function describeCache(name: string | undefined): string {
  return name === undefined ? 'the default cache' : `the cache '${name}'`;
}
