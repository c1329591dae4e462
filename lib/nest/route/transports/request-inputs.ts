import type { HttpInputs } from '../../interfaces/http-options.interface.js';
import { keyCookie, parseCookieHeader } from '../inputs/cookies.js';
import { saysWhoAsks } from '../inputs/identity.js';
import { headerOf, requestOf, type RequestLike } from './request.js';

/** Of a GraphQL operation there are the headers, cookies and session of the request, and its address. */
const OF_AN_OPERATION: ReadonlySet<string> = new Set(['headers', 'cookies', 'session', 'ip']);

/** The inputs that `http.inputs` names beyond what a call of this kind has. */
export function foreignInputs(kind: 'graphql' | 'rpc' | 'ws', inputs: HttpInputs): readonly string[] {
  return Object.entries(inputs).flatMap(([name, value]: [string, unknown]) => {
    const isAsked = Array.isArray(value) ? value.length > 0 : value === true;
    return isAsked && !(kind === 'graphql' && OF_AN_OPERATION.has(name)) ? [name] : [];
  });
}

/** One value that `http.inputs` names, and the credentials it tells apart. */
export interface NamedInput {
  readonly value: unknown;
  readonly covers: string | undefined;
}

export function readInputs(inputs: HttpInputs, call: readonly unknown[]): readonly NamedInput[] {
  const request: RequestLike = requestOf(call) ?? {};
  const headers = (inputs.headers ?? []).map((given): NamedInput => {
    const name = given.toLowerCase();
    return named(headerOf(request, name), name);
  });
  const cookies = (inputs.cookies ?? []).map((name) =>
    named(cookieOf(request, name), saysWhoAsks(name) ? 'cookie' : undefined),
  );
  const session = (inputs.session ?? []).map((name) =>
    named(recordOf(request.session)[name], saysWhoAsks(name) ? 'cookie' : undefined),
  );
  const ip = inputs.ip === true ? [named(request.ip, undefined)] : [];
  return [...headers, ...cookies, ...session, ...ip];
}

function named(value: unknown, covers: string | undefined): NamedInput {
  const isThere = value !== undefined && value !== null && value !== '';
  return { value, covers: isThere ? covers : undefined };
}

/** As a cookie parser left them, or those of the header. */
function cookieOf(request: RequestLike, name: string): unknown {
  const { cookies, signedCookies: signed } = request;
  const sent = (): object => parseCookieHeader(headerOf(request, 'cookie'));
  const parsed = typeof cookies === 'object' && cookies !== null ? cookies : sent();
  return keyCookie({ cookies: parsed, signed, sent }, name);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  // Any object may be asked for a property by name.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
