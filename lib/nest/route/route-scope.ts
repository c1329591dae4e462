import { AsyncScope } from '../../core/async-scope.js';
import type { ScopeReader, ShadowResponse } from './response/index.js';

/** One run of a handler for a request. */
export interface RouteRun {
  /** The request, as its interceptors share it. */
  readonly request: object;
  /** The `@Cached` use whose wrapper stands aside, once: calls that the handler makes of itself are calls like any other. */
  aside: object | undefined;
  /**
   * Where what the handler writes to the response goes, until it has answered: a stream it made goes on in its async context.
   * @default to the response
   */
  shadow?: ShadowResponse | undefined;
  /** How the handler was called, after pipes: told by its wrapper. */
  called?: { readonly host: object; readonly args: readonly unknown[] };
}

/** Knows, in the async context of a handler, which request it runs for. One an application. */
export class RouteScope {
  private readonly scope = new AsyncScope<RouteRun>();
  /** What responses ask for the shadow that stands in for them. */
  readonly storage: ScopeReader = { getStore: () => this.scope.current() };

  /** @param handle hands on what Nest is to subscribe to, later */
  pass<R>(run: RouteRun, handle: () => R): R {
    return this.scope.run(run, handle);
  }

  /** Until the handler has answered. */
  run<R>(run: RouteRun, handle: () => Promise<R>): Promise<R> {
    return this.scope.during(run, handle);
  }

  /** Whether an interceptor further out has seen to this request already: it can be bound twice. */
  isInside(request: object): boolean {
    return this.scope.current()?.request === request;
  }

  /** Whether this call of a `@Cached` method is the one that a request came for: the interceptor has seen to it. */
  standsAside(declaration: object, host: object, args: readonly unknown[]): boolean {
    const run = this.scope.current();
    if (run?.aside !== declaration) return false;
    run.aside = undefined;
    run.called = { host, args };
    return true;
  }

  /** An async context that nobody uses any more would still cost every await of the process. */
  close(): void {
    this.scope.close();
  }
}
