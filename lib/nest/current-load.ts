import { AsyncScope } from '../core/async-scope.js';
import { isThenable } from './is-thenable.js';
import type { LoadContext } from '../core/load/index.js';

/** Whoever knows which load runs now: the cache whose loader was called last in this async context. */
interface LoadScope {
  currentLoad(): LoadContext | undefined;
}

/** A load of one copy's cache is seen by other copies of this package in the process. */
const scope = new AsyncScope<LoadScope>(Symbol.for('nestjs-stampede-cache.load-scope'));

/**
 * The context of the load around this call, in a `@Cached` method or a loader and in what they call; undefined outside of
 * one, after its end, and in a call that goes past the cache.
 */
export function currentLoad<T = unknown>(): LoadContext<T> | undefined {
  // The caller knows what its own load returns; the context itself does not.
  return scope.current()?.currentLoad() as LoadContext<T> | undefined;
}

/** Runs a loader so that {@link currentLoad} finds the load it is called for. */
export function runInLoadOf<R>(from: LoadScope, load: () => R): R {
  return scope.during(from, () => {
    const result = load();
    // A query that begins when it is awaited must find its load, too.
    return isThenable(result) && !(result instanceof Promise) ? (Promise.resolve(result) as R) : result;
  });
}
