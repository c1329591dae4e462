import type { ClassLike } from '../cached/declaration.js';

export type Handler = (...args: never[]) => unknown;

/** A controller, a resolver or a gateway: a class that Nest looks for handlers in. */
export type RouteHost = ClassLike & object;

/** A handler as its class has it. */
export interface RoutePlace {
  readonly host: RouteHost;
  readonly method: string | symbol;
  readonly handler: Handler;
  /** Made for each request, or depends on what is. */
  readonly isRequestScoped: boolean;
}
