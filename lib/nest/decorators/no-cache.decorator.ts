import { ConfigurationError } from '../../core/errors.js';
import { show } from '../../core/show.js';
import { markNoCache } from '../route/marks.js';

/**
 * Keeps {@link StampedeCacheInterceptor} away from a handler, or from a controller's handlers that carry no mark of their own.
 *
 * @throws ConfigurationError where it stands on anything but a method or a class
 */
export function NoCache(): ClassDecorator & MethodDecorator {
  return (target: object, method?: string | symbol, descriptor?: PropertyDescriptor) => {
    const place: unknown = method === undefined ? target : descriptor?.value;
    if (typeof place !== 'function') {
      throw new ConfigurationError(
        `@NoCache() stands on methods and classes, received ${show(place)}${method === undefined ? '' : ` at ${String(method)}`}.`,
      );
    }
    markNoCache(place);
  };
}
