import type { AsyncMethodOf } from '../interfaces/cached-handle.interface.js';
import type { AnyMethod } from '../interfaces/cached-options.interface.js';
import type {
  ArgsOf,
  EvictDecorator,
  EvictMethodOptions,
  EvictTagsOptions,
  HiddenTarget,
  TargetOf,
} from '../interfaces/eviction-options.interface.js';
import { declareEvictionOn } from './declare-eviction.js';

/**
 * Makes entries go when a method of a provider or controller has succeeded, or before it is called. Several may stand on a
 * method, above or below any other decorator: one below `@Cached` happens when the method really ran, one above it at every
 * call. Without the module (`new Service()`) the method is plain. Wrong names are told when the application starts.
 *
 * ```ts
 * @CacheEvict({ of: 'findOne', args: (_result, id) => [id] })
 * @CacheEvict({ of: () => [SearchService, 'search'] }) // all its entries
 * async update(id: number, change: Change): Promise<Product> { ... }
 * ```
 */
export function CacheEvict<
  C extends object,
  K extends AsyncMethodOf<C>,
  H extends object,
  M extends AnyMethod,
  W extends 'after' | 'before' = 'after',
>(options: EvictMethodOptions<H, M, W, TargetOf<C, K>, ArgsOf<C, K>>): EvictDecorator<H, M>;
/** The same for a method of the same class. */
export function CacheEvict<
  H extends object,
  M extends AnyMethod,
  K extends AsyncMethodOf<H>,
  W extends 'after' | 'before' = 'after',
>(options: EvictMethodOptions<H, M, W, K, ArgsOf<H, K>>): EvictDecorator<H, M>;
/** The same by tags alone. */
export function CacheEvict<H extends object, M extends AnyMethod, W extends 'after' | 'before' = 'after'>(
  options: EvictTagsOptions<H, M, W>,
): EvictDecorator<H, M>;
/** The same for a method that is not public: say its arguments. */
export function CacheEvict<A extends readonly unknown[] = never>(
  options: EvictMethodOptions<object, AnyMethod, 'after' | 'before', HiddenTarget<A>, A>,
): EvictDecorator<object, AnyMethod>;
export function CacheEvict(options: unknown): EvictDecorator<object, AnyMethod> {
  return (target, method, descriptor) => declareEvictionOn('evict', target, method, descriptor, options);
}
