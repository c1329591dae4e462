import { ConfigurationError } from '../../core/errors.js';
import { describeMethod, type CachedDeclaration, type ClassLike } from '../cached/declaration.js';

/** The method that a decorator stands on. */
export interface DecoratedMethod {
  readonly prototype: object;
  readonly method: string | symbol;
  readonly declaredBy: ClassLike;
  readonly where: string;
  readonly original: CachedDeclaration['original'];
}

/** What a decorator says where it can't stand. */
export interface Misplaced {
  readonly decorator: string;
  readonly onClass: string;
  readonly onStatic: string;
  readonly onGenerator: string;
}

/** @throws ConfigurationError on anything but an instance method */
export function checkMethod(
  target: unknown,
  method: string | symbol | undefined,
  descriptor: PropertyDescriptor | undefined,
  misplaced: Misplaced,
): DecoratedMethod {
  const { decorator } = misplaced;
  if (method === undefined) {
    throw new ConfigurationError(`${decorator} stands on the class ${nameOf(target)}: ${misplaced.onClass}`);
  }
  if (typeof target !== 'object' || target === null) {
    throw new ConfigurationError(
      `${nameOf(target)}.${String(method)} is static and belongs to no provider: ${misplaced.onStatic}`,
    );
  }
  const declaredBy = target.constructor as unknown as ClassLike; // a prototype's constructor is its class
  const where = describeMethod(declaredBy, method);
  const original: unknown = descriptor?.value;
  if (typeof original !== 'function') {
    const found = descriptor?.get ? 'a getter' : 'not a method';
    throw new ConfigurationError(`${where} is ${found}: ${decorator} stands on methods.`);
  }
  if (isGenerator(original)) {
    throw new ConfigurationError(`${where} is a generator, ${misplaced.onGenerator}`);
  }
  // A function is what it is here; its arguments are its own.
  return { prototype: target, method, declaredBy, where, original: original as DecoratedMethod['original'] };
}

function nameOf(target: unknown): string {
  return typeof target === 'function' ? target.name || 'an unnamed class' : String(target);
}

const GENERATORS: ReadonlySet<string> = new Set(['GeneratorFunction', 'AsyncGeneratorFunction']);

function isGenerator(method: object): boolean {
  return GENERATORS.has((method as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] ?? '');
}
