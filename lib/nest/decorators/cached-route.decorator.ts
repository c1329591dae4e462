import { ConfigurationError } from '../../core/errors.js';
import type { CachedRouteOptions } from '../interfaces/cached-route-options.interface.js';
import { isMarkedRoute, markRoute, type RouteOptions } from '../route/marks.js';
import { checkMethod } from './check-method.js';

/**
 * Marks a handler, or every GET handler of a controller, for {@link StampedeCacheInterceptor}: its responses are cached. For
 * handlers of any return type; `@Cached` does the same for async ones, and caches their direct calls too.
 *
 * ```ts
 * @CachedRoute({ ttl: '60s' })
 * @Get(':id')
 * findOne(@Param('id') id: string): Product { ... }
 * ```
 *
 * @throws ConfigurationError where it stands on anything but an instance method or a class; what is wrong with its options is
 * told when the application starts
 */
export function CachedRoute(options: CachedRouteOptions = {}): ClassDecorator & MethodDecorator {
  return (target: object, method?: string | symbol, descriptor?: PropertyDescriptor) => {
    const place = placeOf(target, method, descriptor);
    if (isMarkedRoute(place)) {
      throw new ConfigurationError(
        `${nameOf(target, method)} has @CachedRoute twice. Put everything into one.`,
      );
    }
    markRoute(place, options as RouteOptions); // judged when the application starts
  };
}

function placeOf(
  target: object,
  method: string | symbol | undefined,
  descriptor: PropertyDescriptor | undefined,
): object {
  if (method === undefined && typeof target === 'function') return target;
  checkMethod(target, method, descriptor, MISPLACED);
  return (descriptor as PropertyDescriptor).value as object; // just checked
}

const MISPLACED = {
  decorator: '@CachedRoute',
  onClass: 'put it on the class itself or on its methods.',
  onStatic: 'no request reaches it.',
  onGenerator: 'which can be read only once: return what it yields as an array.',
} as const;

function nameOf(target: object, method: string | symbol | undefined): string {
  if (method === undefined) return (target as { readonly name?: string }).name ?? 'a class';
  return `${target.constructor.name}.${String(method)}`;
}
