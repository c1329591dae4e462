import { ConfigurationError } from '../../core/errors.js';
import { injectCache } from '../cached/attachment.js';
import { declare, describeMethod, type CachedDeclaration, type ClassLike } from '../cached/declaration.js';
import { wrap } from '../cached/wrap.js';
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
  const prototype = checkTarget(target, method);
  const where = describeMethod(prototype.constructor, method as string); // checked along with the target
  const original: unknown = descriptor?.value;
  if (descriptor === undefined || typeof original !== 'function') {
    const found = descriptor?.get ? 'a getter' : 'not a method';
    throw new ConfigurationError(`${where} is ${found}: @Cached stands on methods.`);
  }
  if (isGenerator(original)) {
    throw new ConfigurationError(
      `${where} is a generator, which can be read only once: let it collect into an array that a cached method returns.`,
    );
  }
  const declaration: CachedDeclaration = {
    method: method as string, // checked along with the target
    declaredBy: prototype.constructor as ClassLike,
    // Judged when the application starts; the cache's name is needed now.
    options: (options === undefined ? {} : options) as CachedDeclaration['options'],
    original: original as CachedDeclaration['original'], // just checked
  };
  if (!declare(prototype, declaration)) {
    throw new ConfigurationError(`${where} has @Cached twice. Put everything into one.`);
  }
  injectCache(prototype, declaration.options?.cache);
  descriptor.value = wrap(declaration);
}

/** @throws ConfigurationError on a class and on a static member */
function checkTarget(target: unknown, method: string | symbol | undefined): object {
  if (typeof target === 'object' && target !== null && method !== undefined) return target;
  const name = typeof target === 'function' ? target.name || 'an unnamed class' : String(target);
  if (method === undefined) {
    throw new ConfigurationError(
      `@Cached stands on the class ${name}: put it on the methods. For the responses of a controller there is @CachedRoute.`,
    );
  }
  throw new ConfigurationError(
    `${name}.${String(method)} is static and belongs to no provider: use StampedeCacheService.getOrLoad() in it.`,
  );
}

const GENERATORS: ReadonlySet<string> = new Set(['GeneratorFunction', 'AsyncGeneratorFunction']);

function isGenerator(method: object): boolean {
  return GENERATORS.has((method as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] ?? '');
}
