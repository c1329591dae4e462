import { Inject } from '@nestjs/common';
import { getStampedeCacheToken } from '../stampede-cache.constants.js';

/**
 * Injects a cache's `StampedeCacheService`.
 * @param name as given to `forRoot({ name })`; left out for the default cache
 */
export function InjectStampedeCache(name?: string): PropertyDecorator & ParameterDecorator {
  return Inject(getStampedeCacheToken(name));
}
