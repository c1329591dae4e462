import { ConfigurationError } from '../../core/errors.js';
import { declarationFor, describeMethod, type CachedDeclaration } from '../cached/declaration.js';
import type { Handler, RouteHost, RoutePlace } from './route-place.js';
import { describeCache } from '../stampede-cache.constants.js';
import { classOf, type CachedMethods } from '../cached/cached-methods.js';
import type { ManagedCache } from '../managed-cache.js';
import { bindingOf, type AppConfig, type Binding } from './binding.js';
import { isNoCache, routeOptionsOf, type RouteOptions } from './marks.js';
import { RoutePlan, type Routed } from './plan.js';
import { planInputs } from './plan-inputs.js';
import { resolveHttp } from './resolve-http.js';
import { routePolicyOf } from './route-policy.js';
import { handlerKindsOf, isReachedByClassMark, neverCached, type HandlerKind } from './transports/index.js';

/** The cache that responses are kept in. */
export interface RoutedCache {
  readonly managed: ManagedCache;
  readonly methods: CachedMethods;
}

/** What plans are made from. */
export interface RoutePlansParts {
  /** Undefined: a test put something else in its place. */
  readonly cacheOf: (name: string | undefined) => RoutedCache | undefined;
  readonly isConfigured: (cache: string | undefined) => boolean;
  readonly config: () => AppConfig | undefined;
}

/** How a handler is marked. */
interface Mark {
  readonly declaration: CachedDeclaration;
  readonly isOfClass: boolean;
  readonly isCached: boolean;
}

/** The plans of an application's handlers, each made once: by the bootstrap, or by the first request that it did not see. */
export class RoutePlans {
  private readonly known = new WeakMap<Handler, WeakMap<RouteHost, Map<string, Routed | null>>>();
  private readonly requestScoped = new WeakSet<RouteHost>();
  /** Of `@CachedRoute`, which leaves none of its own. */
  private readonly declarations = new WeakMap<Handler, WeakMap<RouteOptions, CachedDeclaration>>();

  constructor(private readonly parts: RoutePlansParts) {}

  /** What is known of a handler that a request came for; null: the interceptor has nothing to do with it. */
  find(host: RouteHost, handler: Handler, kind: string): Routed | null {
    const known = this.known.get(handler)?.get(host)?.get(kind);
    return known === undefined ? this.learn(host, handler, kind as HandlerKind) : known;
  }

  /** Notes a class whose instances are made for each request. */
  noteRequestScoped(host: RouteHost): void {
    this.requestScoped.add(host);
  }

  /** How requests meet the interceptor. */
  bindingOf({ host, handler }: Pick<RoutePlace, 'host' | 'handler'>): Binding {
    return bindingOf(this.parts.config(), host, handler);
  }

  /** What `@CachedRoute` says of a handler. */
  routeOf(prototype: object, method: string | symbol): CachedDeclaration | undefined {
    const handler: unknown = Reflect.get(prototype, method);
    if (typeof handler !== 'function') return undefined;
    const host = classOf(prototype) as RouteHost;
    const place = { host, method, handler: handler as Handler, isRequestScoped: false };
    const marks = handlerKindsOf(prototype, method).map((kind) => this.markOf(place, kind));
    return marks.find((mark) => mark !== undefined)?.declaration;
  }

  /** Whether anything marks the handler, for this kind of requests. */
  isMarked(place: RoutePlace, kind: HandlerKind): boolean {
    return this.markOf(place, kind) !== undefined;
  }

  /**
   * The plan of a handler; null: it is not marked.
   * @throws ConfigurationError for options or inputs that can't be used
   */
  plan(place: RoutePlace, kind: HandlerKind): Routed | null {
    const mark = this.markOf(place, kind);
    if (mark === undefined) return null;
    const aside = mark.isCached ? mark.declaration : undefined;
    const plan = isNoCache(place.handler) ? undefined : this.make(place, mark, kind);
    return { aside, plan };
  }

  private make(
    place: RoutePlace,
    { declaration, isOfClass }: Mark,
    kind: HandlerKind,
  ): RoutePlan | undefined {
    const { host, method, handler } = place;
    const where = describeMethod(host, method);
    const { cache } = declaration.options;
    if (!this.parts.isConfigured(cache)) {
      throw new ConfigurationError(
        `${where}: ${declaration.decorator ?? '@Cached'} uses ${describeCache(cache)}, which is not configured.`,
      );
    }
    const found = this.parts.cacheOf(cache);
    if (found === undefined) return undefined;
    const { managed, methods } = found;
    const why = neverCached(kind, host.prototype, method);
    if (why !== undefined) {
      if (!isOfClass) managed.warn(`${where}: ${why} is never cached; the mark on it has no effect.`);
      return undefined;
    }
    const cached = methods.resolve(declaration, host.prototype);
    const http = resolveHttp(declaration.options.http, where);
    const warn = (message: string): void => managed.warn(message);
    const inputs = planInputs({ ...place, kind, where, http, config: this.parts.config, warn });
    const plan = new RoutePlan(
      kind,
      managed,
      cached,
      routePolicyOf(cached.policy),
      http,
      inputs,
      this.bindingOf(place).isOutermost,
      methods.instanceOf(host.prototype),
      declaresCacheControl(handler),
    );
    if (inputs.refusal !== undefined) plan.leaveAlone(inputs.refusal);
    return plan;
  }

  private learn(host: RouteHost, handler: Handler, kind: HandlerKind): Routed | null {
    const method = methodOf(host, handler);
    const isRequestScoped = this.requestScoped.has(host);
    const found = method === undefined ? null : this.plan({ host, method, handler, isRequestScoped }, kind);
    const byHost = this.known.get(handler) ?? new WeakMap<RouteHost, Map<string, Routed | null>>();
    const byKind = byHost.get(host) ?? new Map<string, Routed | null>();
    this.known.set(handler, byHost.set(host, byKind));
    byKind.set(kind, found);
    return found;
  }

  /**
   * The mark that holds: the handler's own before the class's.
   * @throws ConfigurationError for two on one handler
   */
  private markOf(place: RoutePlace, kind: HandlerKind): Mark | undefined {
    const { host, method, handler } = place;
    const cached = declarationFor(host.prototype, method);
    const route = routeOptionsOf(handler);
    if (cached !== undefined && route !== undefined) {
      const where = describeMethod(host, method);
      throw new ConfigurationError(`${where} has @Cached and @CachedRoute. Put everything into one.`);
    }
    if (cached !== undefined) return { declaration: cached, isOfClass: false, isCached: true };
    if (route !== undefined) {
      return { declaration: this.declared(place, route), isOfClass: false, isCached: false };
    }
    const ofClass = routeOptionsOf(host);
    if (ofClass === undefined || isNoCache(handler) || isNoCache(host)) return undefined;
    if (!isReachedByClassMark(kind, host.prototype, method) || !isRead(kind, handler)) return undefined;
    return { declaration: this.declared(place, ofClass), isOfClass: true, isCached: false };
  }

  /** A route as a cached method: its name, version and policy are resolved in one place. */
  private declared({ host, method, handler }: RoutePlace, options: RouteOptions): CachedDeclaration {
    const known = this.declarations.get(handler) ?? new WeakMap<RouteOptions, CachedDeclaration>();
    this.declarations.set(handler, known);
    const declaration = known.get(options) ?? {
      method,
      declaredBy: host,
      // Judged where it is resolved; its functions take whatever the handler does.
      options: options as CachedDeclaration['options'],
      original: handler as CachedDeclaration['original'],
      decorator: '@CachedRoute',
    };
    known.set(options, declaration);
    return declaration;
  }
}

/** Nest's metadata of the request method on a handler, and its numbers for GET, ALL and HEAD. */
const METHOD = 'method';
const READING: readonly unknown[] = [0, 5, 7];

/** Of a controller that is marked as a whole, the handlers that only read. */
function isRead(kind: HandlerKind, handler: Handler): boolean {
  return kind !== 'http' || READING.includes(Reflect.getMetadata(METHOD, handler));
}

/** Nest's metadata of `@Header()` on handlers. */
const HEADERS = '__headers__';

function declaresCacheControl(handler: Handler): boolean {
  const declared: unknown = Reflect.getMetadata(HEADERS, handler);
  if (!Array.isArray(declared)) return false;
  return declared.some((header: { readonly name?: unknown }) => {
    return String(header.name).toLowerCase() === 'cache-control';
  });
}

/** The name under which a class has this function; another decorator may have given it any name of its own. */
function methodOf(host: RouteHost, handler: Handler): string | symbol | undefined {
  for (let level: object | null = host.prototype; level !== null;) {
    for (const name of Reflect.ownKeys(level)) {
      if (Object.getOwnPropertyDescriptor(level, name)?.value === handler) return name;
    }
    level = Object.getPrototypeOf(level) as object | null;
  }
  return handler.name in host.prototype ? handler.name : undefined;
}
