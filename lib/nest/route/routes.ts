import { ConfigurationError } from '../../core/errors.js';
import type { Request } from '../../core/request.js';
import type { CachedMethod } from '../cached/cached-method.js';
import { HttpRoutes } from './http-route.js';
import { MessageRoutes } from './message-route.js';
import type { RoutePlan } from './plan.js';
import { reachOf, type Reach } from './reach.js';
import { RoutePlans, type RoutePlansParts } from './route-plans.js';
import type { Handler, RouteHost } from './route-place.js';
import { RouteScope } from './route-scope.js';
import { handlerKindsOf, type HandlerKind } from './transports/index.js';

/** What the interceptors of one application share, wherever they are bound. */
export class Routes {
  readonly scope = new RouteScope();
  readonly http = new HttpRoutes(this.scope);
  readonly messages = new MessageRoutes(this.scope);
  readonly plans: RoutePlans;
  closed = false;

  constructor(parts: RoutePlansParts) {
    this.plans = new RoutePlans(parts);
  }

  /**
   * The responses that requests of a `@Cached` handler were answered with, by a call of it. Undefined: no request reaches the
   * method. Whether an interceptor is bound is not asked: it may be so in another application of the fleet.
   */
  reachOf(call: Request, { host, declaration }: CachedMethod): Reach | undefined {
    const kinds = handlerKindsOf(host.prototype, declaration.method);
    if (kinds.length === 0) return undefined;
    const handler: unknown = Reflect.get(host.prototype, declaration.method);
    const plan = kinds.includes('http')
      ? this.planOf(host as RouteHost, handler as Handler, 'http')
      : undefined;
    return reachOf(call, plan);
  }

  close(): void {
    this.closed = true;
    this.scope.close();
  }

  /** Of a handler that can't be planned here none of the keys is known; its responses have their tags. */
  private planOf(host: RouteHost, handler: Handler, kind: HandlerKind): RoutePlan | undefined {
    try {
      return this.plans.find(host, handler, kind)?.plan;
    } catch (error) {
      if (error instanceof ConfigurationError) return undefined;
      throw error;
    }
  }
}
