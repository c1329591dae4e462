import type { CachedOptions } from '../interfaces/cached-options.interface.js';
import type { AnyMethod } from '../interfaces/cached-options.interface.js';

/** One use of `@Cached`: what was written on which method of which class. */
export interface CachedDeclaration {
  readonly method: string | symbol;
  /** The class whose body holds the method. */
  readonly declaredBy: ClassLike;
  readonly options: CachedOptions<object, AnyMethod>;
  readonly original: (this: unknown, ...args: readonly unknown[]) => unknown;
  /** What it was written with, for messages. @default '@Cached' */
  readonly decorator?: string;
}

/** Anything with a prototype and a name; it is never constructed here. */
export interface ClassLike {
  readonly name: string;
  readonly prototype: object;
}

type Declared = Map<string | symbol, CachedDeclaration>;

/** An own property of each declaring prototype. `Symbol.for`: another copy of this package finds it too. */
const DECLARED = Symbol.for('nestjs-stampede-cache.methods');

/** Takes note of a use. False: the method has one already. */
export function declare(prototype: object, declaration: CachedDeclaration): boolean {
  const own = ownDeclared(prototype) ?? new Map<string | symbol, CachedDeclaration>();
  if (own.has(declaration.method)) return false;
  own.set(declaration.method, declaration);
  Object.defineProperty(prototype, DECLARED, { value: own, configurable: true });
  return true;
}

/** The use that a call of `method` on an instance with this prototype reaches. An override without `@Cached` has none. */
export function declarationFor(
  prototype: object | null,
  method: string | symbol,
): CachedDeclaration | undefined {
  for (let level = prototype; level !== null; level = parentOf(level)) {
    if (Object.hasOwn(level, method)) return ownDeclared(level)?.get(method);
  }
  return undefined;
}

/** The nearest use up the chain: of an override without `@Cached`, what its `super.method()` reaches. */
export function nearestDeclaration(
  prototype: object | null,
  method: string | symbol,
): CachedDeclaration | undefined {
  for (let level = prototype; level !== null; level = parentOf(level)) {
    const found = ownDeclared(level)?.get(method);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Every use that calls on an instance with this prototype reach. */
export function declarationsOf(prototype: object | null): readonly CachedDeclaration[] {
  const methods = new Set<string | symbol>();
  for (let level = prototype; level !== null; level = parentOf(level)) {
    for (const method of ownDeclared(level)?.keys() ?? []) methods.add(method);
  }
  return [...methods]
    .map((method) => declarationFor(prototype, method))
    .filter((found) => found !== undefined);
}

/** `ProductsService.findOne`, with the class of the instance. */
export function describeMethod(host: Pick<ClassLike, 'name'>, method: string | symbol): string {
  return `${host.name || 'an unnamed class'}.${typeof method === 'symbol' ? (method.description ?? 'symbol') : method}`;
}

function ownDeclared(prototype: object): Declared | undefined {
  // Only `declare` writes it.
  return Object.getOwnPropertyDescriptor(prototype, DECLARED)?.value as Declared | undefined;
}

export function parentOf(level: object): object | null {
  return Object.getPrototypeOf(level) as object | null;
}
