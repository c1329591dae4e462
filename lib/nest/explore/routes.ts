import type { ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '../../core/errors.js';
import { describeMethod } from '../cached/declaration.js';
import { isMarkedRoute, isNoCache, routeOptionsOf } from '../route/marks.js';
import type { RoutePlan } from '../route/plan.js';
import type { RouteHost, RoutePlace } from '../route/route-place.js';
import type { RoutePlans } from '../route/route-plans.js';
import { handlerKindsOf, type HandlerKind } from '../route/transports/index.js';
import { SharedControllers } from './shared-controllers.js';

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
  const controllers = new SharedControllers();
  for (const module of modules.values()) {
    const name = module.metatype?.name ?? 'an unnamed module';
    for (const { host, isRequestScoped, isController } of classesOf(module)) {
      if (isRequestScoped) plans.noteRequestScoped(host);
      if (isController) controllers.note(host, name);
      for (const place of placesOf(host, isRequestScoped)) {
        try {
          const { served, isRoute } = explore(place, plans, advice);
          if (served.some(isKeyedByClass)) controllers.serves(place);
          const [plan] = served;
          if (isRoute && plan) routes.push({ plan, prototype: host.prototype, module: name });
        } catch (error) {
          if (!(error instanceof ConfigurationError)) throw error;
          problems.push(error.message);
        }
      }
    }
  }
  return { problems: [...problems, ...controllers.problems()], advice, routes };
}

/** Whether responses are found again by class, method and inputs, and by nothing of the author's own. */
function isKeyedByClass({ kind, http, isForOneEach }: RoutePlan): boolean {
  return kind === 'http' && http.key === undefined && !isForOneEach;
}

interface Explored {
  /** By the interceptor. */
  readonly served: readonly RoutePlan[];
  /** It is no `@Cached` method. */
  readonly isRoute: boolean;
}

const NOTHING: Explored = { served: [], isRoute: false };

function explore(place: RoutePlace, plans: RoutePlans, advice: string[]): Explored {
  const { host, method, handler } = place;
  const kinds = handlerKindsOf(host.prototype, method);
  const where = describeMethod(host, method);
  if (kinds.length === 0) {
    if (!isMarkedRoute(handler)) return NOTHING;
    throw new ConfigurationError(
      `${where} has @CachedRoute and no request reaches it. For methods that others call there is @Cached.`,
    );
  }
  const marked = kinds.filter((kind) => plans.isMarked(place, kind));
  if (marked.length === 0) return NOTHING;
  const isRoute = routeOptionsOf(handler) !== undefined || routeOptionsOf(host) !== undefined;
  if (!plans.bindingOf(place).isBound) {
    if (isRoute && !isNoCache(handler)) {
      advice.push(
        `${where} is marked by @CachedRoute, and StampedeCacheInterceptor is not bound to it: nothing is cached. Add @UseInterceptors(StampedeCacheInterceptor).`,
      );
    }
    return NOTHING;
  }
  const served = marked.map((kind) => planOf(place, kind, plans)).filter((plan) => plan !== undefined);
  return { served, isRoute };
}

function planOf({ host, handler }: RoutePlace, kind: HandlerKind, plans: RoutePlans): RoutePlan | undefined {
  return plans.find(host, handler, kind)?.plan;
}

interface RouteClass {
  readonly host: RouteHost;
  readonly isRequestScoped: boolean;
  readonly isController: boolean;
}

/** Controllers, and the providers among which Nest looks for resolvers and gateways. */
function classesOf({ controllers, providers }: NestModule): readonly RouteClass[] {
  const classes = (wrappers: Iterable<Wrapper>, isController: boolean): readonly RouteClass[] =>
    [...wrappers].flatMap((wrapper) => {
      const { metatype, inject } = wrapper;
      if (typeof metatype !== 'function' || (inject !== undefined && inject !== null)) return [];
      if (typeof metatype.prototype !== 'object' || metatype.prototype === null) return [];
      const host = metatype as unknown as RouteHost; // a class with a prototype
      return [{ host, isController, isRequestScoped: !wrapper.isDependencyTreeStatic() }];
    });
  return [...classes(controllers.values(), true), ...classes(providers.values(), false)];
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
