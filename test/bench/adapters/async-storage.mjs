import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * From the first use on, up to Node.js 23, every promise of the process costs more. Ours uses one storage; so do most
 * applications (request contexts, tracing), whatever cache they have.
 */
export function useAsyncStorage() {
  new AsyncLocalStorage().enterWith({});
}
