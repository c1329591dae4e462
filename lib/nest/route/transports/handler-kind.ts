import 'reflect-metadata';
import { classOf } from '../../cached/cached-methods.js';

/**
 * What calls a handler, as the context of a call says it: events are `rpc` too. One method may have several: `@Get()` and
 * `@MessagePattern()` stand on one in a hybrid application.
 */
export type HandlerKind = 'http' | 'graphql' | 'rpc' | 'ws';

/** What a resolver answers: a field of the root, a field of an object, or a reference of a federated graph. */
export type GraphqlRole = 'query' | 'mutation' | 'subscription' | 'field' | 'reference';

type Method = (...args: never[]) => unknown;

/** What the packages of Nest write onto a handler, by their own keys: they are no dependencies of this one. */
const ROUTE_PATH = 'path';
const ROUTE_METHOD = 'method';
const RESOLVER_TYPE = 'graphql:resolver_type';
const RESOLVER_PROPERTY = 'graphql:resolve_property';
const RESOLVER_REFERENCE = 'graphql:resolve_reference';
const PATTERN = 'microservices:pattern';
const PATTERN_HANDLER = 'microservices:handler_type';
const TRANSPORT = 'microservices:transport';
const MESSAGE_MAPPING = 'websockets:message_mapping';
const MESSAGE = 'message';

/** `PatternHandler.EVENT` and `Transport.GRPC` of `@nestjs/microservices`. */
const EVENT_HANDLER = 2;
const GRPC = 4;

const ROOT_ROLES: Readonly<Record<string, GraphqlRole>> = {
  Query: 'query',
  Mutation: 'mutation',
  Subscription: 'subscription',
};

/** All of them, by what the decorators of Nest left on the method; none for a method that nothing outside calls. */
export function handlerKindsOf(prototype: object, method: string | symbol): readonly HandlerKind[] {
  const handler = handlerOf(prototype, method);
  if (handler === undefined) return [];
  const kinds: HandlerKind[] = [];
  if (has(ROUTE_PATH, handler) && has(ROUTE_METHOD, handler)) kinds.push('http');
  if (graphqlRoleOf(prototype, method) !== undefined) kinds.push('graphql');
  if (has(PATTERN_HANDLER, handler)) kinds.push('rpc');
  if (has(MESSAGE_MAPPING, handler)) kinds.push('ws');
  return kinds;
}

/** The first of {@link handlerKindsOf}. */
export function handlerKindOf(prototype: object, method: string | symbol): HandlerKind | undefined {
  return handlerKindsOf(prototype, method)[0];
}

/** Undefined: not a resolver. A class `@Resolver('Query')` makes all its methods queries. */
export function graphqlRoleOf(prototype: object, method: string | symbol): GraphqlRole | undefined {
  const handler = handlerOf(prototype, method);
  if (handler === undefined || method === 'constructor') return undefined;
  if (read(RESOLVER_REFERENCE, handler) === true) return 'reference';
  if (read(RESOLVER_PROPERTY, handler) === true) return 'field';
  const type = read(RESOLVER_TYPE, handler) ?? read(RESOLVER_TYPE, classOf(prototype));
  return typeof type === 'string' ? ROOT_ROLES[type] : undefined;
}

/** Why no call of the handler over this transport can be answered from the cache, as a message says it. */
export function neverCached(
  kind: HandlerKind,
  prototype: object,
  method: string | symbol,
): string | undefined {
  if (kind === 'graphql') {
    const role = graphqlRoleOf(prototype, method);
    return role === 'mutation' || role === 'subscription' ? `a GraphQL ${role}` : undefined;
  }
  if (kind !== 'rpc') return undefined;
  if (isEventHandler(prototype, method)) return 'an event handler, whose answer nobody waits for,';
  return isStreaming(prototype, method) ? 'a gRPC stream' : undefined;
}

/**
 * Whether a mark on the class concerns the handler: it does where a call is a request of its own with an answer of its own.
 * A field resolver runs once per parent, and a message of a socket belongs to a conversation.
 */
export function isReachedByClassMark(kind: HandlerKind, prototype: object, method: string | symbol): boolean {
  if (kind === 'http') return true;
  if (kind === 'ws' || neverCached(kind, prototype, method) !== undefined) return false;
  return kind !== 'graphql' || graphqlRoleOf(prototype, method) === 'query';
}

/** The patterns of a message handler. It can't tell by which of them it was called, unless it takes the context. */
export function patternsOf(prototype: object, method: string | symbol): readonly unknown[] {
  const handler = handlerOf(prototype, method);
  const patterns: unknown = handler && read(PATTERN, handler);
  return Array.isArray(patterns) ? patterns : [patterns];
}

/** The name of the messages that a method of a gateway answers. */
export function messageOf(prototype: object, method: string | symbol): unknown {
  const handler = handlerOf(prototype, method);
  return handler && read(MESSAGE, handler);
}

/** Over gRPC a handler without decorators takes the metadata and the call beside the payload. */
export function isGrpc(prototype: object, method: string | symbol): boolean {
  const handler = handlerOf(prototype, method);
  return handler !== undefined && read(TRANSPORT, handler) === GRPC;
}

function isEventHandler(prototype: object, method: string | symbol): boolean {
  const handler = handlerOf(prototype, method);
  return handler !== undefined && read(PATTERN_HANDLER, handler) === EVENT_HANDLER;
}

function isStreaming(prototype: object, method: string | symbol): boolean {
  return patternsOf(prototype, method).some((pattern) => {
    // Any pattern may be asked for a property once it is an object; `createGrpcMethodMetadata` writes this one.
    const streaming = isObject(pattern) ? (pattern as { streaming?: unknown }).streaming : undefined;
    return streaming === 'rx_stream' || streaming === 'pt_stream';
  });
}

/** The method of a prototype or of one it inherits from; of a getter there is none. */
export function handlerOf(prototype: object, method: string | symbol): Method | undefined {
  for (let level: object | null = prototype; level !== null;) {
    const descriptor = Object.getOwnPropertyDescriptor(level, method);
    if (descriptor !== undefined) {
      // A function can be called with anything; nobody here calls it.
      return typeof descriptor.value === 'function' ? (descriptor.value as Method) : undefined;
    }
    level = Object.getPrototypeOf(level) as object | null;
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function has(key: string, target: object): boolean {
  return Reflect.getMetadata(key, target) !== undefined;
}

function read(key: string, target: object): unknown {
  return Reflect.getMetadata(key, target) as unknown;
}
