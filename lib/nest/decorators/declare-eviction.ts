import { injectEvictor } from '../evict/eviction-attachment.js';
import { declareEviction, type EvictionDeclaration } from '../evict/eviction-declaration.js';
import { wrapEviction } from '../evict/wrap-eviction.js';
import { checkMethod } from './check-method.js';

/**
 * What `@CacheEvict` and `@CachePut` do to a method.
 * @throws ConfigurationError on anything but an instance method
 */
export function declareEvictionOn(
  kind: EvictionDeclaration['kind'],
  target: object,
  method: string | symbol,
  descriptor: PropertyDescriptor,
  options: unknown,
): void {
  const decorator = kind === 'evict' ? '@CacheEvict' : '@CachePut';
  const { prototype, declaredBy, original } = checkMethod(target, method, descriptor, {
    decorator,
    onClass: 'put it on the methods.',
    onStatic: `use StampedeCacheService.${kind === 'evict' ? 'invalidate' : 'set'}() in it.`,
    onGenerator: `and ends when its reader likes: ${decorator} stands on methods that return a Promise.`,
  });
  const declaration: EvictionDeclaration = { kind, method, declaredBy, options, original };
  declareEviction(prototype, declaration);
  injectEvictor(prototype);
  descriptor.value = wrapEviction(declaration);
}
