import 'reflect-metadata';
import { classOf } from '../cached/cached-methods.js';

/** The key of Nest's metadata on a handler's parameters, and the kinds of parameter by number. Stable since Nest 6. */
const ROUTE_ARGS = '__routeArguments__';
const REFUSED: Readonly<Record<string, string>> = {
  0: '@Req()',
  1: '@Res()',
  2: '@Next()',
  7: '@Session()',
  11: '@Ip()',
};
/** All headers: no two clients send the same. */
const HEADERS = '6';

/** The first parameter of a handler that can't be part of a key, or must not be without the author's word. */
export function refusedInputOf(prototype: object, method: string | symbol): string | undefined {
  const inputs: unknown = Reflect.getMetadata(ROUTE_ARGS, classOf(prototype), method);
  if (typeof inputs !== 'object' || inputs === null) return undefined;
  for (const [id, input] of Object.entries(inputs)) {
    const kind = id.split(':')[0] ?? ''; // '<kind>:<index>', or a custom decorator's own id
    if (kind in REFUSED) return REFUSED[kind];
    const isWhole = (input as { data?: unknown } | undefined)?.data === undefined;
    if (kind === HEADERS && isWhole) return '@Headers() without a name';
  }
  return undefined;
}
