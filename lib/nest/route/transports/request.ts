import type { ExecutionContext } from '@nestjs/common';
import { fieldCallOf } from './graphql.js';

/** What of a request is read here, of whatever framework. */
export interface RequestLike {
  readonly headers?: unknown;
  readonly cookies?: unknown;
  readonly signedCookies?: unknown;
  readonly session?: unknown;
  readonly ip?: unknown;
}

/** The HTTP request behind a GraphQL operation: `req`, `request` or the context itself, whichever has headers. */
export function requestOf(call: readonly unknown[]): RequestLike | undefined {
  const { context } = fieldCallOf(call);
  if (!isObject(context)) return undefined;
  const { req, request } = context as { req?: unknown; request?: unknown }; // any object may be asked
  return [req, request, context].find(hasHeaders);
}

/**
 * Which of these credentials, by lower-case name, a call carries. A GraphQL context that shows no request carries all: who
 * asks is then unknown. A message carries what its broker calls headers, a socket what its handshake brought.
 */
export function carriedCredentials(context: ExecutionContext, names: readonly string[]): readonly string[] {
  const sources = sourcesOf(context);
  if (sources === undefined) return names;
  const carried = new Set(sources.flatMap((headers) => entriesOf(headers).map(([name]) => name)));
  return names.filter((name) => carried.has(name));
}

/** The values of a credential that a call carries. */
export function credentialValues(context: ExecutionContext, credential: string): readonly unknown[] {
  const entries = (sourcesOf(context) ?? []).flatMap(entriesOf);
  return entries.flatMap(([name, value]) => (name === credential ? [value] : []));
}

/** Whatever holds headers; undefined: nothing shows any. */
function sourcesOf(context: ExecutionContext): readonly unknown[] | undefined {
  const args = context.getArgs<unknown[]>();
  switch (context.getType<string>()) {
    case 'graphql': {
      const request = requestOf(args);
      return request && [request.headers];
    }
    case 'rpc':
      return messageHeadersOf(args[1]);
    case 'ws':
      return handshakeHeadersOf(args[0]);
    default:
      return undefined;
  }
}

/** Of one name, in lower case; the last one where several are sent. */
export function headerOf(request: RequestLike, name: string): unknown {
  const { headers } = request;
  if (!isObject(headers)) return undefined;
  const { get } = headers as { get?: unknown }; // the Headers of fetch
  if (typeof get === 'function') return (get.call(headers, name) as unknown) ?? undefined;
  return (headers as Readonly<Record<string, unknown>>)[name]; // Node's are in lower case
}

/** NATS has headers of its own, gRPC metadata; Kafka, RabbitMQ and MQTT have them in the message. */
function messageHeadersOf(context: unknown): readonly unknown[] {
  const own = callOf(context, 'getHeaders');
  const message = callOf(context, 'getMessage');
  const packet = callOf(context, 'getPacket');
  return [
    context instanceof Object && 'getMap' in context ? context : undefined,
    own,
    property(message, 'headers'),
    property(property(message, 'properties'), 'headers'),
    property(property(packet, 'properties'), 'userProperties'),
  ];
}

function handshakeHeadersOf(client: unknown): readonly unknown[] {
  const handshake = property(client, 'handshake');
  return [property(handshake, 'headers'), property(handshake, 'auth'), property(client, 'headers')];
}

type Entry = readonly [name: string, value: unknown];

/** Headers that have a value, by lower-case name. */
function entriesOf(headers: unknown): readonly Entry[] {
  const known = callOf(headers, 'getMap') ?? headers;
  if (!isObject(known)) return [];
  const keys = callOf(known, 'keys');
  const entries: readonly Entry[] = isObject(keys)
    ? Array.from(keys as Iterable<unknown>, (name) => [String(name), callOf(known, 'get', name)])
    : Object.entries(known).filter(([, value]: Entry) => hasValue(value));
  return entries.map(([name, value]) => [name.toLowerCase(), value]);
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function callOf(target: unknown, method: string, ...args: readonly unknown[]): unknown {
  const call = property(target, method);
  return typeof call === 'function' ? (call.apply(target, args) as unknown) : undefined;
}

function property(target: unknown, name: string): unknown {
  return isObject(target) ? (target as Readonly<Record<string, unknown>>)[name] : undefined;
}

function hasHeaders(value: unknown): value is RequestLike {
  return isObject(property(value, 'headers'));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
