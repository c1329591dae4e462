import { BRAND, CALL, type CachedCaller } from './attachment.js';
import type { CachedDeclaration } from './declaration.js';

/**
 * What hosts of `@Cached` methods are injected with: a stand-in for the service that depends on nothing. The options of a
 * cache may need a host whose methods it caches; injecting the service itself would close that circle, and NestJS 11 would
 * wait for ever.
 */
export class CacheLink implements CachedCaller {
  readonly [BRAND] = true;
  /** There as soon as it is made. Never, where a test replaced it: then the methods stay plain. */
  service: CachedCaller | undefined;

  get closed(): boolean {
    return this.service?.closed ?? false;
  }

  [CALL](declaration: CachedDeclaration, host: object, args: readonly unknown[]): unknown {
    if (this.service !== undefined) return this.service[CALL](declaration, host, args);
    return Reflect.apply(declaration.original, host, args);
  }
}
