import type { CallHandler, ExecutionContext } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { RouteScope } from './route-scope.js';

/** A request on its way to the handler. */
export interface Passage {
  /** Shared by the interceptors of a request, which know it by its arguments. */
  readonly context: ExecutionContext;
  readonly next: CallHandler;
  /** The use of `@Cached` whose wrapper stands aside. */
  readonly aside: object | undefined;
}

/** The handler as if it were not marked, and no wrapper on it: the interceptor has decided. */
export function pass(scope: RouteScope, { context, next, aside }: Passage): Observable<unknown> {
  return scope.pass({ request: context.getArgs(), aside }, () => next.handle());
}
