import { ConfigurationError } from '../../core/errors.js';
import { show } from '../../core/show.js';
import {
  declarationsOf,
  describeMethod,
  nearestDeclaration,
  type CachedDeclaration,
  type ClassLike,
} from '../cached/declaration.js';
import { classOf } from '../cached/cached-methods.js';

/** The `@Cached` method whose entries an eviction means. */
export interface EvictionTarget {
  /** Of the instances whose entries they are. */
  readonly prototype: object;
  readonly declaration: CachedDeclaration;
}

/** What the application has instances of. */
export interface KnownClasses {
  readonly classes: readonly ClassLike[];
  /** false: there may be others, as before the bootstrap, and in a module that is loaded lazily. */
  readonly isAll: boolean;
}

/**
 * Follows the name of a method of the same class, or what tells class and method.
 * @param host the prototype of the evicting instance
 * @throws ConfigurationError for a name that leads to no `@Cached` method of the application
 */
export function targetOf(
  of: string | symbol | (() => unknown),
  host: object,
  known: KnownClasses,
  where: string,
): EvictionTarget {
  if (typeof of !== 'function') return inClass(host, of, where);
  const [type, name] = ask(of, where);
  return inClass(prototypeFor(type, name, known, where), name, where);
}

function inClass(prototype: object, name: string | symbol, where: string): EvictionTarget {
  const declaration = nearestDeclaration(prototype, name);
  if (declaration !== undefined) return { prototype, declaration };
  const method = describeMethod(classOf(prototype), name);
  const what = name in prototype ? `${method} is not @Cached` : `there is no method ${method}`;
  const cached = declarationsOf(prototype).map((one) => String(one.method));
  const known = cached.length === 0 ? 'That class has none' : `There are: ${cached.join(', ')}`;
  throw new ConfigurationError(`${where}: ${what}. Name a @Cached method in of. ${known}.`);
}

/** Called once the application starts: until then a class of a circular import is not there yet. */
function ask(of: () => unknown, where: string): [type: ClassLike, name: string | symbol] {
  let answer: unknown;
  try {
    answer = of();
  } catch (cause) {
    throw new ConfigurationError(
      `${where}: of() failed with ${show(cause)}. It returns [Class, 'method'], of a class that is exported where it is imported from.`,
      { cause },
    );
  }
  const [type, name] = Array.isArray(answer) ? (answer as readonly unknown[]) : [];
  if (
    !Array.isArray(answer) ||
    answer.length !== 2 ||
    (typeof name !== 'string' && typeof name !== 'symbol')
  ) {
    throw new ConfigurationError(`${where}: of() returns [Class, 'method'], received ${show(answer)}.`);
  }
  if (isClass(type)) return [type, name];
  throw new ConfigurationError(
    `${where}: of() returned ${show(type)} in place of the class in [Class, ${show(name)}]. Is it exported by the file it is imported from?`,
  );
}

function isClass(type: unknown): type is ClassLike & (new () => unknown) {
  return typeof type === 'function' && typeof type.prototype === 'object' && type.prototype !== null;
}

/** Entries are named after the class of the instance: a base class stands for the one class that extends it. */
function prototypeFor(
  type: ClassLike,
  name: string | symbol,
  { classes, isAll }: KnownClasses,
  where: string,
): object {
  if (classes.includes(type)) return type.prototype;
  const heirs = classes.filter(
    ({ prototype }) =>
      Object.prototype.isPrototypeOf.call(type.prototype, prototype) &&
      nearestDeclaration(prototype, name) !== undefined,
  );
  const [heir, second] = heirs;
  const method = describeMethod(type, name);
  if (second !== undefined) {
    throw new ConfigurationError(
      `${where}: ${method} is inherited by ${heirs.map((one) => one.name).join(', ')}, each with entries of its own: name one of them in of, or several in several decorators.`,
    );
  }
  if (heir !== undefined) return heir.prototype;
  // What is not @Cached at all is told of as such.
  if (!isAll || nearestDeclaration(type.prototype, name) === undefined) return type.prototype;
  throw new ConfigurationError(
    `${where}: ${method} is of a class that is no provider or controller of this application. Provide ${type.name}, or, where a request-scoped factory or a lazily loaded module makes it, invalidate with StampedeCacheService.of(${type.name}, ${show(name)}) in the method.`,
  );
}
