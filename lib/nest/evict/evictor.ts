import { ConfigurationError, InvalidationError } from '../../core/errors.js';
import { BRAND } from '../cached/attachment.js';
import { classOf } from '../cached/cached-methods.js';
import { describeMethod, type ClassLike } from '../cached/declaration.js';
import { describeCache } from '../stampede-cache.constants.js';
import { EVICT, type EvictionCaller } from './eviction-attachment.js';
import type { EvictionDeclaration } from './eviction-declaration.js';
import { planOf, type EvictionPlan } from './eviction-plan.js';
import { targetOf } from './eviction-target.js';
import { Eviction, type EvictionCache, type ResolvedTarget } from './eviction.js';
import { joined } from './joined.js';

/** The caches of an application. */
export interface EvictionCaches {
  /** Undefined: a test put something else in its place, or it is not configured. */
  cacheOf(name: string | undefined): EvictionCache | undefined;
  isConfigured(name: string | undefined): boolean;
}

/** A class with evictions, as the bootstrap found it. */
export interface EvictingHost {
  readonly prototype: object;
  readonly evictions: readonly EvictionDeclaration[];
}

/** Where methods with `@CacheEvict` and `@CachePut` come to: one an application, whichever caches they change. */
export class Evictor implements EvictionCaller {
  readonly [BRAND] = true;
  /** After its end another application may take its instances over. */
  closed = false;
  private readonly known = new WeakMap<EvictionDeclaration, WeakMap<object, Eviction>>();
  /** Errors of evictions further in, by which one further out tells that the method itself succeeded, and with what. */
  private readonly succeeded = new WeakMap<object, { readonly result: unknown }>();

  private classes: readonly ClassLike[] = [];

  constructor(private readonly caches: EvictionCaches) {}

  /** What is wrong with the evictions of an application. `classes`: what it has instances of. */
  check(hosts: readonly EvictingHost[], classes: readonly ClassLike[]): readonly string[] {
    const problems = new Set<string>();
    this.classes = classes;
    for (const { prototype, evictions } of hosts) {
      for (const declaration of evictions) {
        try {
          this.learn(declaration, prototype, true);
        } catch (error) {
          if (!(error instanceof ConfigurationError)) throw error;
          problems.add(error.message);
        }
      }
    }
    return [...problems];
  }

  async [EVICT](
    declaration: EvictionDeclaration,
    host: object,
    args: readonly unknown[],
    proceed: () => unknown,
  ): Promise<unknown> {
    const eviction = this.resolve(declaration, Object.getPrototypeOf(host) as object);
    if (eviction === undefined) return proceed();
    if (eviction.isBefore) {
      await eviction.run(host, undefined, args);
      return eviction.returned(proceed());
    }
    return this.afterwards(eviction, host, args, proceed);
  }

  private async afterwards(
    eviction: Eviction,
    host: object,
    args: readonly unknown[],
    proceed: () => unknown,
  ): Promise<unknown> {
    const errors: unknown[] = [];
    let result: unknown;
    try {
      result = await eviction.returned(proceed());
    } catch (error) {
      const done = isObject(error) ? this.succeeded.get(error) : undefined;
      if (done === undefined) throw error;
      ({ result } = done);
      errors.push(error);
    }
    await eviction.run(host, result, args).catch((error: unknown) => errors.push(error));
    if (errors.length === 0) return result;
    const failure = joined(errors);
    if (failure instanceof InvalidationError) failure.after(result);
    if (isObject(failure)) this.succeeded.set(failure, { result });
    throw failure;
  }

  /**
   * Undefined: there is nothing to change, as where a test replaced the cache, or before it is made.
   * @throws ConfigurationError
   */
  private resolve(declaration: EvictionDeclaration, prototype: object): Eviction | undefined {
    const known = this.known.get(declaration)?.get(prototype);
    return known ?? this.learn(declaration, prototype, false);
  }

  private learn(
    declaration: EvictionDeclaration,
    prototype: object,
    isBootstrap: boolean,
  ): Eviction | undefined {
    const eviction = this.make(declaration, prototype, isBootstrap);
    if (eviction === undefined) return undefined;
    let ofClass = this.known.get(declaration);
    if (ofClass === undefined) this.known.set(declaration, (ofClass = new WeakMap()));
    ofClass.set(prototype, eviction);
    return eviction;
  }

  private make(
    declaration: EvictionDeclaration,
    prototype: object,
    isBootstrap: boolean,
  ): Eviction | undefined {
    const { kind, method } = declaration;
    const where = `${kind === 'evict' ? '@CacheEvict' : '@CachePut'} on ${describeMethod(classOf(prototype), method)}`;
    const plan = planOf(declaration, where);
    if (plan.of !== undefined) return this.makeForMethod(kind, plan, plan.of, prototype, isBootstrap, where);
    const cache = this.caches.cacheOf(plan.cache);
    if (cache !== undefined) return new Eviction(kind, where, plan, cache, undefined);
    if (this.caches.isConfigured(plan.cache)) return undefined;
    throw new ConfigurationError(
      `${where}: the tags are in ${describeCache(plan.cache)}, which is not configured. Configure it, or name another one: cache: 'reports'.`,
    );
  }

  private makeForMethod(
    kind: EvictionDeclaration['kind'],
    plan: EvictionPlan,
    of: NonNullable<EvictionPlan['of']>,
    host: object,
    isBootstrap: boolean,
    where: string,
  ): Eviction | undefined {
    const { prototype, declaration } = targetOf(
      of,
      host,
      { classes: this.classes, isAll: isBootstrap },
      where,
    );
    // One that is not configured is told of at the method itself.
    const cache = this.caches.cacheOf(declaration.options?.cache);
    if (cache === undefined) return undefined;
    const target: ResolvedTarget = { prototype, method: cache.methods.resolve(declaration, prototype) };
    return new Eviction(kind, where, plan, cache, target);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
