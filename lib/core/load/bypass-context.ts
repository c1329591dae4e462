import type { Request } from '../request.js';
import { RunningLoadContext } from './load-context.js';

/** The context of a load that goes past the cache: its wishes change nothing. */
export function bypassContext(request: Request): RunningLoadContext {
  const signal = request.call.signal ?? new AbortController().signal;
  return new RunningLoadContext(request.key.id, signal, request.policy.where, () => undefined);
}
