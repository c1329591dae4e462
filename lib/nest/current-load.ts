import { AsyncLocalStorage } from 'node:async_hooks';
import type { LoadContext } from '../core/load/index.js';

/** Whoever knows which load runs now: the cache whose loader was called last in this async context. */
interface LoadScope {
  currentLoad(): LoadContext | undefined;
}

const SCOPE = Symbol.for('nestjs-stampede-cache.load-scope');

/** One storage for every copy of this package in the process: a load of one copy's cache is seen by the other. */
function scopes(): AsyncLocalStorage<LoadScope> {
  const shared = globalThis as { [SCOPE]?: AsyncLocalStorage<LoadScope> }; // nobody else uses this symbol
  return (shared[SCOPE] ??= new AsyncLocalStorage<LoadScope>());
}

const storage = scopes();

/**
 * The context of the load around this call, in a `@Cached` method or a loader and in what they call; undefined outside of
 * one, after its end, and in a call that goes past the cache.
 */
export function currentLoad<T = unknown>(): LoadContext<T> | undefined {
  // The caller knows what its own load returns; the context itself does not.
  return storage.getStore()?.currentLoad() as LoadContext<T> | undefined;
}

/** Runs a loader so that {@link currentLoad} finds the load it is called for. */
export function runInLoadOf<R>(scope: LoadScope, load: () => R): R {
  return storage.run(scope, load);
}
