import type { AsyncMethodOf } from '../interfaces/cached-handle.interface.js';
import type { AnyMethod } from '../interfaces/cached-options.interface.js';
import type {
  ArgsOf,
  HiddenTarget,
  PutDecorator,
  PutOptions,
  TargetOf,
  ValueOf,
} from '../interfaces/eviction-options.interface.js';
import { declareEvictionOn } from './declare-eviction.js';

/**
 * Replaces an entry by what a method of a provider or controller resolved to. A result that can't be stored drops the old
 * entry; it is returned all the same. Wrong names are told when the application starts.
 *
 * ```ts
 * @CachePut({ of: 'findOne', args: (_result, id) => [id] })
 * async update(id: number, change: Change): Promise<Product> { ... }
 * ```
 */
export function CachePut<C extends object, K extends AsyncMethodOf<C>, H extends object, M extends AnyMethod>(
  options: PutOptions<H, M, TargetOf<C, K>, ArgsOf<C, K>>,
): PutDecorator<H, M, ValueOf<C, K>>;
/** The same for a method of the same class. */
export function CachePut<H extends object, M extends AnyMethod, K extends AsyncMethodOf<H>>(
  options: PutOptions<H, M, K, ArgsOf<H, K>>,
): PutDecorator<H, M, ValueOf<H, K>>;
/** The same for a method that is not public: say its arguments. */
export function CachePut<A extends readonly unknown[] = never>(
  options: PutOptions<object, AnyMethod, HiddenTarget<A>, A>,
): PutDecorator<object, AnyMethod, unknown>;
export function CachePut(options: unknown): PutDecorator<object, AnyMethod, unknown> {
  return (target, method, descriptor) => declareEvictionOn('put', target, method, descriptor, options);
}
