import { ConfigurationError } from '../../core/errors.js';
import type { AnyPolicy } from '../../core/policy/index.js';
import type { Requests } from '../../core/requests.js';
import { describeCache } from '../stampede-cache.constants.js';
import { CachedMethod } from './cached-method.js';
import { describeMethod, nearestDeclaration, type CachedDeclaration, type ClassLike } from './declaration.js';

/** The cached methods of one cache, each resolved once: by the bootstrap, or by the first call of a class it did not see. */
export class CachedMethods {
  private readonly known = new WeakMap<CachedDeclaration, WeakMap<object, CachedMethod>>();
  /** Classes that the application makes instances of, with the instance where it is the only one. */
  private readonly hosts = new Map<ClassLike, object | undefined>();

  constructor(
    private readonly cache: string | undefined,
    private readonly requests: Requests,
    private readonly defaults: AnyPolicy | undefined,
    private readonly warn: (message: string) => void,
  ) {}

  /** @throws ConfigurationError for options that can't be used */
  resolve(declaration: CachedDeclaration, prototype: object): CachedMethod {
    let ofClass = this.known.get(declaration);
    if (ofClass === undefined) this.known.set(declaration, (ofClass = new WeakMap()));
    let method = ofClass.get(prototype);
    if (method === undefined) {
      method = new CachedMethod(declaration, classOf(prototype), this.requests, this.defaults, this.warn);
      ofClass.set(prototype, method);
    }
    return method;
  }

  /** Notes a class of the application, for `of(Class, …)`. */
  addHost(host: ClassLike, instance: object | undefined): void {
    const isSecond = this.hosts.has(host) && this.hosts.get(host) !== instance;
    this.hosts.set(host, isSecond ? undefined : instance);
  }

  /**
   * The cached method behind `of(host, name)`, and the instance that its key function sees as `this`.
   * @param routeOf what marks a handler whose own calls are not cached
   * @throws ConfigurationError for what is not cached here
   */
  find(
    host: unknown,
    name: string | symbol,
    routeOf: (prototype: object) => CachedDeclaration | undefined = () => undefined,
  ): { method: CachedMethod; instance: object | undefined } {
    const prototype = this.prototypeOf(host, name);
    const declaration = nearestDeclaration(prototype, name) ?? routeOf(prototype);
    const where = describeMethod(classOf(prototype), name);
    if (declaration === undefined) throw new ConfigurationError(`of(): ${where} is not @Cached.`);
    const { cache } = declaration.options;
    if (cache !== this.cache) {
      throw new ConfigurationError(
        `of(): ${where} is cached in ${describeCache(cache)} and not in ${describeCache(this.cache)}: inject that one's service.`,
      );
    }
    const instance = typeof host === 'object' ? (host as object) : this.instanceOf(prototype);
    return { method: this.resolve(declaration, prototype), instance };
  }

  /** The one instance of a class, if the application has just one. */
  instanceOf(prototype: object): object | undefined {
    return this.hosts.get(classOf(prototype));
  }

  /** Entries are named after the class of the instance: a base class stands for the one class that extends it. */
  private prototypeOf(host: unknown, name: string | symbol): object {
    if (typeof host === 'object' && host !== null) return Object.getPrototypeOf(host) as object;
    const given = typeof host === 'function' ? (host.prototype as unknown) : undefined;
    if (typeof host !== 'function' || typeof given !== 'object' || given === null) {
      throw new ConfigurationError(`of() takes a class or an instance, received ${String(host)}.`);
    }
    const asClass = host as unknown as ClassLike; // a function with a prototype
    if (this.hosts.has(asClass)) return given;
    const heirs = [...this.hosts.keys()].filter((known) => known.prototype instanceof host);
    const [heir, second] = heirs;
    if (heir === undefined) return given;
    if (second === undefined) return heir.prototype;
    throw new ConfigurationError(
      `of(): ${describeMethod(asClass, name)} is inherited by ${heirs.map((one) => one.name).join(', ')}, each with entries of its own: name one of them.`,
    );
  }
}

/** The class of instances with this prototype. */
export function classOf(prototype: object): ClassLike {
  const { constructor } = prototype as { constructor?: unknown };
  return typeof constructor === 'function'
    ? (constructor as unknown as ClassLike) // a function has a name; this one has a prototype too
    : { name: '', prototype };
}
