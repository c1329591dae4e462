import { ConfigurationError } from '../../core/errors.js';
import { injectCache } from '../cached/attachment.js';
import { declare, type CachedDeclaration } from '../cached/declaration.js';
import { wrap } from '../cached/wrap.js';
import { checkMethod, type Misplaced } from './check-method.js';
import type { AnyMethod, CachedDecorator, CachedOptions } from '../interfaces/cached-options.interface.js';

/**
 * Caches what a method of a provider or controller resolves to: one load per key in the fleet, however many ask. The
 * callbacks among the options get their types from the method. Without the module (`new Service()`) the method is plain.
 *
 * ```ts
 * @Cached({ ttl: '60s', key: (id) => id })
 * async findOne(id: number): Promise<Product> { ... }
 * ```
 *
 * @throws ConfigurationError where it stands on anything but an instance method; what is wrong with its options is told
 * when the application starts
 */
export function Cached<H extends object, M extends AnyMethod>(
  options?: CachedOptions<H, M>,
): CachedDecorator<H, M> {
  return (target, method, descriptor) => decorate(target, method, descriptor, options);
}

function decorate(
  target: unknown,
  method: string | symbol | undefined,
  descriptor: PropertyDescriptor | undefined,
  options: unknown,
): void {
  const { where, prototype, ...decorated } = checkMethod(target, method, descriptor, MISPLACED);
  const declaration: CachedDeclaration = {
    ...decorated,
    // Judged when the application starts; the cache's name is needed now.
    options: (options === undefined ? {} : options) as CachedDeclaration['options'],
  };
  if (!declare(prototype, declaration)) {
    throw new ConfigurationError(`${where} has @Cached twice. Put everything into one.`);
  }
  injectCache(prototype, declaration.options?.cache);
  // Checked: there is a descriptor with the method in it.
  (descriptor as PropertyDescriptor).value = wrap(declaration);
}

const MISPLACED: Misplaced = {
  decorator: '@Cached',
  onClass: 'put it on the methods. For the responses of a controller there is @CachedRoute.',
  onStatic: 'use StampedeCacheService.getOrLoad() in it.',
  onGenerator: 'which can be read only once: let it collect into an array that a cached method returns.',
};
