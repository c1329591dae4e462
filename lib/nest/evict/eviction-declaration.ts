import { parentOf, type CachedDeclaration, type ClassLike } from '../cached/declaration.js';

/** One use of `@CacheEvict` or `@CachePut`: what was written on which method of which class. */
export interface EvictionDeclaration {
  readonly kind: 'evict' | 'put';
  readonly method: string | symbol;
  /** The class whose body holds the method. */
  readonly declaredBy: ClassLike;
  /** As given; judged when the application starts. */
  readonly options: unknown;
  readonly original: CachedDeclaration['original'];
}

/** An own property of each declaring prototype. `Symbol.for`: another copy of this package finds it too. */
const DECLARED = Symbol.for('nestjs-stampede-cache.evictions');

/** Takes note of a use. A method can have several. */
export function declareEviction(prototype: object, declaration: EvictionDeclaration): void {
  const value = [...ownEvictions(prototype), declaration];
  Object.defineProperty(prototype, DECLARED, { value, configurable: true });
}

/** Every use on the chain, those of overridden methods included: `super.method()` may reach them. */
export function evictionsOf(prototype: object | null): readonly EvictionDeclaration[] {
  const found: EvictionDeclaration[] = [];
  for (let level = prototype; level !== null; level = parentOf(level)) found.push(...ownEvictions(level));
  return found;
}

function ownEvictions(prototype: object): readonly EvictionDeclaration[] {
  // Only `declareEviction` writes it.
  const own = Object.getOwnPropertyDescriptor(prototype, DECLARED)?.value as
    EvictionDeclaration[] | undefined;
  return own ?? [];
}
