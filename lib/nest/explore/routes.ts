import type { ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '../../core/errors.js';
import { describeMethod } from '../cached/declaration.js';
import { isMarkedRoute, isNoCache, routeOptionsOf } from '../route/marks.js';
import type { RoutePlan } from '../route/plan.js';
import type { RouteHost, RoutePlace } from '../route/route-place.js';
import type { RoutePlans } from '../route/route-plans.js';
import { handlerKindsOf, type HandlerKind } from '../route/transports/index.js';

type NestModule = ReturnType<ModulesContainer['get']> & object;
type Wrapper = NestModule['providers'] extends Map<unknown, infer W> ? W : never;

/** What the bootstrap learns of the marked handlers of an application. */
export interface ExploredRoutes {
  readonly problems: readonly string[];
  readonly advice: readonly string[];
  readonly routes: readonly ExploredRoute[];
}

/** A handler that `@CachedRoute` marks. */
export interface ExploredRoute {
  readonly plan: RoutePlan;
  readonly prototype: object;
  readonly module: string;
}

/** Makes the plan of every marked handler that the interceptor is bound to. */
export function exploreRoutes(modules: ModulesContainer, plans: RoutePlans): ExploredRoutes {
  const problems: string[] = [];
  const advice: string[] = [];
  const routes: ExploredRoute[] = [];
  for (const module of modules.values()) {
    for (const { host, isRequestScoped } of classesOf(module)) {
      if (isRequestScoped) plans.noteRequestScoped(host);
      for (const place of placesOf(host, isRequestScoped)) {
        try {
          const plan = explore(place, plans, advice);
          const name = module.metatype?.name ?? 'an unnamed module';
          if (plan) routes.push({ plan, prototype: host.prototype, module: name });
        } catch (error) {
          if (!(error instanceof ConfigurationError)) throw error;
          problems.push(error.message);
        }
      }
    }
  }
  return { problems, advice, routes };
}

/** The plan of a route that is no `@Cached` method. */
function explore(place: RoutePlace, plans: RoutePlans, advice: string[]): RoutePlan | undefined {
  const { host, method, handler } = place;
  const kinds = handlerKindsOf(host.prototype, method);
  const where = describeMethod(host, method);
  if (kinds.length === 0) {
    if (!isMarkedRoute(handler)) return undefined;
    throw new ConfigurationError(
      `${where} has @CachedRoute and no request reaches it. For methods that others call there is @Cached.`,
    );
  }
  const marked = kinds.filter((kind) => plans.isMarked(place, kind));
  if (marked.length === 0) return undefined;
  const isRoute = routeOptionsOf(handler) !== undefined || routeOptionsOf(host) !== undefined;
  if (!plans.bindingOf(place).isBound) {
    if (isRoute && !isNoCache(handler)) {
      advice.push(
        `${where} is marked by @CachedRoute, and StampedeCacheInterceptor is not bound to it: nothing is cached. Add @UseInterceptors(StampedeCacheInterceptor).`,
      );
    }
    return undefined;
  }
  const planned = marked.map((kind) => planOf(place, kind, plans));
  return isRoute ? planned.find((plan) => plan !== undefined) : undefined;
}

function planOf({ host, handler }: RoutePlace, kind: HandlerKind, plans: RoutePlans): RoutePlan | undefined {
  return plans.find(host, handler, kind)?.plan;
}

/** Controllers, and the providers among which Nest looks for resolvers and gateways. */
function classesOf(module: NestModule): readonly { host: RouteHost; isRequestScoped: boolean }[] {
  const wrappers: Wrapper[] = [...module.controllers.values(), ...module.providers.values()];
  return wrappers.flatMap((wrapper) => {
    const { metatype, inject } = wrapper;
    if (typeof metatype !== 'function' || (inject !== undefined && inject !== null)) return [];
    if (typeof metatype.prototype !== 'object' || metatype.prototype === null) return [];
    const isRequestScoped = !wrapper.isDependencyTreeStatic();
    return [{ host: metatype as unknown as RouteHost, isRequestScoped }]; // a class with a prototype
  });
}

function placesOf(host: RouteHost, isRequestScoped: boolean): readonly RoutePlace[] {
  const places = new Map<string | symbol, RoutePlace>();
  for (let level: object | null = host.prototype; level !== null && level !== Object.prototype;) {
    for (const method of Reflect.ownKeys(level)) {
      const handler: unknown = Object.getOwnPropertyDescriptor(level, method)?.value;
      if (method === 'constructor' || typeof handler !== 'function' || places.has(method)) continue;
      places.set(method, { host, method, handler: handler as RoutePlace['handler'], isRequestScoped });
    }
    level = Object.getPrototypeOf(level) as object | null;
  }
  return [...places.values()];
}
