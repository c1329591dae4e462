import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  Logger,
  type NestInterceptor,
  Optional,
} from '@nestjs/common';
import type { Observable } from 'rxjs';
import { INTERCEPTOR } from './route/binding.js';
import { pass } from './route/pass.js';
import type { Routes } from './route/routes.js';
import type { RouteHost } from './route/route-place.js';
import { LOG_CONTEXT, ROUTES_TOKEN } from './stampede-cache.constants.js';

/**
 * Caches responses of the handlers that `@Cached` or `@CachedRoute` marks: over HTTP, of GraphQL queries, and of RPC
 * messages. One handler runs for each key, however many requests and processes ask. What is cached is what inner interceptors
 * made of the handler's answer; guards run before.
 *
 * `@UseInterceptors(StampedeCacheInterceptor)` on a handler or controller, or as `APP_INTERCEPTOR`. Bind it outside of
 * interceptors that make answers plain, such as `ClassSerializerInterceptor`.
 */
@Injectable()
export class StampedeCacheInterceptor implements NestInterceptor {
  /** @internal */
  get [INTERCEPTOR](): true {
    return true;
  }

  /** @internal made by Nest */
  constructor(@Optional() @Inject(ROUTES_TOKEN) private readonly routes: Routes | undefined) {
    if (routes === undefined) {
      new Logger(LOG_CONTEXT).warn(
        'StampedeCacheInterceptor is bound where no cache is: nothing is cached. Import StampedeCacheModule.forRoot() in the application.',
      );
    }
  }

  intercept(
    context: ExecutionContext,
    next: CallHandler,
  ): Observable<unknown> | Promise<Observable<unknown>> {
    const { routes } = this;
    if (routes === undefined || routes.closed) return next.handle();
    const kind = context.getType<string>();
    const routed = routes.plans.find(context.getClass<RouteHost>(), context.getHandler() as never, kind);
    if (routed === null) return next.handle();
    const { scope } = routes;
    if (scope.isInside(context.getArgs())) return next.handle();
    const { plan, aside } = routed;
    const passage = { context, next, aside };
    if (plan === undefined) return pass(scope, passage);
    return kind === 'http' ? routes.http.answer(plan, passage) : routes.messages.answer(plan, passage);
  }
}
