import type { ServerResponse } from 'node:http';
import { type FastifyLike } from './fastify-reply.js';
import { isFastify } from './reply-of.js';
import type { Platform } from './reply.js';

/** What is used of Express' response. */
interface ExpressLike extends ServerResponse {
  readonly app?: { get?(setting: string): unknown };
}

const EXPRESS_SETTINGS = ['json replacer', 'json spaces', 'json escape'];

/**
 * Whether an object may be sent as ready JSON text without changing what the framework would send. Fastify: no `preSerialization`
 * hook, no serializer of the reply's or the server's own, no response schema; where that can't be seen, it may not.
 */
export function isJsonPlain(response: object): boolean {
  return isFastify(response) ? isFastifyPlain(response) : isExpressPlain(response as ExpressLike); // what is left: Express
}

/**
 * The text that the framework would send for an object. Fastify picks the response schema by the status that the response
 * has now; a schema per content type is not heeded by its `serialize`, see {@link isJsonPlain}.
 */
export function toJsonText(response: object, body: unknown): string {
  return isFastify(response) ? response.serialize(body) : JSON.stringify(body);
}

/** The content type which the framework sends JSON with, by default. */
export function jsonContentType(_platform: Platform): string {
  return 'application/json; charset=utf-8';
}

function isExpressPlain(response: ExpressLike): boolean {
  const { app } = response;
  if (typeof app?.get !== 'function') return false;
  // Somebody's own `json`, for this response or all of the application's (Express makes those inherit from `app.response`).
  if (Object.hasOwn(response, 'json')) return false;
  const shared: unknown = Object.getPrototypeOf(response);
  if (typeof shared !== 'object' || shared === null || Object.hasOwn(shared, 'json')) return false;
  for (const setting of EXPRESS_SETTINGS) if (app.get(setting)) return false;
  return true;
}

/**
 * Fastify shows hooks and serializers only under symbols of its own. They are found by their descriptions; a version that names
 * them differently is not plain.
 */
function isFastifyPlain(reply: FastifyLike & { readonly request?: object }): boolean {
  if (own(reply, 'fastify.reply.serializer') !== null) return false;
  const context = reply.request && own(reply.request, 'fastify.context');
  if (typeof context !== 'object' || context === null) return false;
  const { preSerialization, schema } = context as Record<string, unknown>; // looked at by name
  if (preSerialization !== null || hasResponse(schema)) return false;
  const symbol = symbolOf(context, 'fastify.replySerializerDefault');
  return symbol !== undefined && !Reflect.get(context, symbol);
}

function hasResponse(schema: unknown): boolean {
  return (
    typeof schema === 'object' && schema !== null && 'response' in schema && schema.response !== undefined
  );
}

function own(target: object, description: string): unknown {
  const symbol = symbolOf(target, description);
  return symbol && (Reflect.get(target, symbol) as unknown); // `any` by its declaration
}

function symbolOf(target: object, description: string): symbol | undefined {
  return Object.getOwnPropertySymbols(target).find((symbol) => symbol.description === description);
}
