import { Logger } from '@nestjs/common';
import { LOG_CONTEXT } from '../stampede-cache.constants.js';
import { CALL, callerIn, isMadeByNest } from './attachment.js';
import type { CachedDeclaration } from './declaration.js';
import { proxyOf } from './proxy-of.js';

/** The method as the class will have it. */
export function wrap(declaration: CachedDeclaration): CachedDeclaration['original'] {
  const { original, options } = declaration;
  const callerOf = callerIn(options?.cache);
  return proxyOf(original, (method, host, args) => {
    const caller = callerOf(host);
    if (caller === undefined) {
      if (isMadeByNest(host)) warnOnce(host as object, declaration);
      return Reflect.apply(method, host, args);
    }
    // Only objects have callers.
    return caller[CALL](declaration, host as object, args);
  });
}

/** Classes that were told of. */
const told = new WeakSet<object>();

/** Nest made the instance and no cache came: the module is missing where the class is provided. */
function warnOnce(host: object, { method, options }: CachedDeclaration): void {
  const type = host.constructor;
  if (told.has(type)) return;
  told.add(type);
  const named = options?.cache === undefined ? '' : `{ name: '${options.cache}' }`;
  new Logger(LOG_CONTEXT).warn(
    `${type.name}.${String(method)} is @Cached and runs uncached: import StampedeCacheModule.forRoot(${named}) in the application.`,
  );
}
