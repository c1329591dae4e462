import type { EntryKey } from '../../core/keys/index.js';
import { tagAsOwn, type LoadContext } from '../../core/load/index.js';
import type { ResolvedCall } from '../../core/policy/index.js';
import type { Request } from '../../core/request.js';
import type { RoutePlan } from './plan.js';
import { keyOfRequest } from './request-of.js';
import type { RouteRun } from './route-scope.js';

/**
 * The responses of a `@Cached` handler that calls with certain arguments made. Where the arguments show what was sent, their
 * keys are known. Whatever else a client sent (`042`, nothing where a pipe has a default) became an entry with the tag.
 */
export interface Reach {
  readonly requests: readonly Request[];
  readonly tag: string;
}

const VERBS = ['GET', 'HEAD'];

/** @param call of the handler, as if others had called it */
export function reachOf(call: Request, plan: RoutePlan | undefined): Reach {
  const keys = plan === undefined ? [] : VERBS.map((verb) => keyOf(plan, verb, call.args, call.call));
  const requests = keys.filter((key) => key !== undefined).map((key) => ({ ...call, key }));
  return { requests, tag: tagOf(call.key) };
}

/** Makes a response reachable by the arguments that its handler was called with, where its key does not tell them. */
export function tagResponse(
  plan: RoutePlan,
  { called, request }: RouteRun,
  asked: Pick<Request, 'key' | 'call'>,
  how: string,
  context: LoadContext,
): void {
  const tag = called && tagFor(plan, called, request, asked, how);
  if (tag !== undefined) tagAsOwn(context, tag);
}

/** Undefined: the key tells, or no call with these arguments has a key, so nobody can name it. */
function tagFor(
  plan: RoutePlan,
  { host, args: given }: NonNullable<RouteRun['called']>,
  request: object,
  asked: Pick<Request, 'key' | 'call'>,
  how: string,
): string | undefined {
  const { method } = plan;
  const args = given.map((arg) => (isOfRequest(arg, request) ? undefined : arg));
  try {
    if (keyOf(plan, how, args, asked.call)?.id === asked.key.id) return undefined;
    return tagOf(method.keyOf(host, method.hasKey ? given : args, asked.call));
  } catch {
    return undefined;
  }
}

/** The response's key, as far as arguments tell it. */
function keyOf(
  plan: RoutePlan,
  how: string,
  args: readonly unknown[],
  call: ResolvedCall,
): EntryKey | undefined {
  const parts = plan.placeOf === undefined ? plan.reader.partsOf?.(args) : undefined;
  return parts && keyOfRequest(plan, how, parts, call);
}

function tagOf({ id }: EntryKey): string {
  return `a call of ${id}`;
}

/** The request itself, its response: what a handler is handed beside its inputs. */
function isOfRequest(arg: unknown, request: object): boolean {
  return (
    typeof arg === 'function' || (Array.isArray(request) && request.includes(arg) && typeof arg === 'object')
  );
}
