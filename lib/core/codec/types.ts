import { classify } from '../keys/classify.js';
import { show } from '../show.js';
import { CodecConfigurationError } from './codec-errors.js';

/** Any class: only its prototype and its name are used, it is never called. */
export type Class = abstract new (...args: never[]) => object;

/**
 * The classes whose instances a value holds: one class, allowed anywhere in it, or a map of paths. A path names
 * properties by `.` and any element of an array or Set, or any value of a Map, by `[]`: `'items[].price'`,
 * `'[].price'`, `'a.b'`; `''` or `'$'` is the value itself. A name with `.`, `[` or `]` in it can't be written.
 */
export type TypeOption = Class | Readonly<Record<string, Class>>;

/** A class as the codec needs it. */
export interface KnownClass {
  readonly prototype: object;
  readonly constructor: Class;
  readonly name: string;
  readonly isError: boolean;
  /** The class on its chain whose `#private` members no copy of its properties would have. */
  readonly privateIn: string | undefined;
}

/** The resolved form of `type`: which class is known here, and where it leads from here. */
export interface TypeMap {
  readonly known: KnownClass | undefined;
  property(name: string): TypeMap | undefined;
  element(): TypeMap | undefined;
}

/** One class, anywhere. */
class Anywhere implements TypeMap {
  constructor(readonly known: KnownClass) {}

  property(): TypeMap {
    return this;
  }

  element(): TypeMap {
    return this;
  }
}

/** The paths from one place on. */
class Place implements TypeMap {
  known: KnownClass | undefined;
  private readonly properties = new Map<string, Place>();
  private elements: Place | undefined;

  property(name: string): Place | undefined {
    return this.properties.get(name);
  }

  element(): Place | undefined {
    return this.elements;
  }

  /** The place one step on, made if need be. */
  grow(step: string): Place {
    if (step === '[]') return (this.elements ??= new Place());
    const there = this.properties.get(step) ?? new Place();
    this.properties.set(step, there);
    return there;
  }
}

/**
 * Checks a `type` option and prepares it. `where` names the policy in errors.
 * @throws CodecConfigurationError on anything but a class or a map of paths to classes
 */
export function resolveTypes(option: TypeOption | undefined, where: string): TypeMap | undefined {
  if (option === undefined) return undefined;
  if (typeof option === 'function') return new Anywhere(know(option, `${where}: type`));
  if (typeof option !== 'object' || option === null || Array.isArray(option)) {
    throw new CodecConfigurationError(
      `${where}: type is ${show(option)}; give a class, or a map of paths such as { 'items[].price': Decimal }`,
    );
  }
  const entries = Object.entries(option);
  if (entries.length === 0) {
    throw new CodecConfigurationError(
      `${where}: type is an empty map; name at least one path, or leave it out`,
    );
  }
  const root = new Place();
  for (const [path, type] of entries) {
    let place = root;
    for (const step of stepsOf(path, where)) place = place.grow(step);
    place.known = know(type, `${where}: type['${path}']`);
  }
  return root;
}

function stepsOf(path: string, where: string): readonly string[] {
  const rest = /^\$(?=$|\.|\[)/.test(path) ? path.slice(1) : path;
  if (rest === '') return [];
  const rooted = rest.startsWith('[') || rest.startsWith('.') ? rest : `.${rest}`;
  if (!/^(?:\.[^.[\]]+|\[\])+$/.test(rooted) || path.startsWith('.')) {
    throw new CodecConfigurationError(
      `${where}: type has the path ${show(path)}; write property names with '.' and elements as '[]', ` +
        `as in 'items[].price', or '' for the value itself`,
    );
  }
  return Array.from(rooted.matchAll(/\.([^.[\]]+)|\[\]/g), (match) => match[1] ?? '[]');
}

function know(type: unknown, where: string): KnownClass {
  // An arrow function or a method has no prototype to restore instances on.
  const prototype: unknown = typeof type === 'function' ? type.prototype : undefined;
  if (typeof prototype !== 'object' || prototype === null) {
    throw new CodecConfigurationError(`${where} is ${show(type)}; give a class`);
  }
  const { name, plain, builtIn, privateIn } = classify(prototype);
  // A function with a prototype can be what `new` is applied to.
  const constructor = type as Class;
  if (constructor.name === '') {
    throw new CodecConfigurationError(
      `${where} is a class without a name; its name is stored, so give it one`,
    );
  }
  if (plain || builtIn === name) {
    throw new CodecConfigurationError(
      `${where} is ${constructor.name}, which needs no type; name a class of your own`,
    );
  }
  const isError = builtIn !== undefined && builtIn.endsWith('Error');
  if (builtIn !== undefined && !isError) {
    throw new CodecConfigurationError(
      `${where} is ${constructor.name}, a subclass of ${builtIn}, whose contents are no properties; return a ${builtIn}`,
    );
  }
  return { prototype, constructor, name: constructor.name, isError, privateIn };
}
