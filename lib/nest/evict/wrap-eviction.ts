import { Logger } from '@nestjs/common';
import { isMadeByNest } from '../cached/attachment.js';
import { proxyOf } from '../cached/proxy-of.js';
import { LOG_CONTEXT } from '../stampede-cache.constants.js';
import { EVICT, evictorOf } from './eviction-attachment.js';
import type { EvictionDeclaration } from './eviction-declaration.js';

/** The method as the class will have it. */
export function wrapEviction(declaration: EvictionDeclaration): EvictionDeclaration['original'] {
  return proxyOf(declaration.original, (method, host, args) => {
    const evictor = evictorOf(host);
    const proceed = (): unknown => Reflect.apply(method, host, args);
    if (evictor === undefined) {
      if (isMadeByNest(host)) warnOnce(host as object, declaration);
      return proceed();
    }
    // Only objects have evictors.
    return evictor[EVICT](declaration, host as object, args, proceed);
  });
}

/** Classes that were told of. */
const told = new WeakSet<object>();

/** Nest made the instance and no evictor came: the module is missing where the class is provided. */
function warnOnce(host: object, { kind, method }: EvictionDeclaration): void {
  const type = host.constructor;
  if (told.has(type)) return;
  told.add(type);
  const decorator = kind === 'evict' ? '@CacheEvict' : '@CachePut';
  new Logger(LOG_CONTEXT).warn(
    `${type.name}.${String(method)} has ${decorator} and changes no entry: import StampedeCacheModule.forRoot() in the application.`,
  );
}
