import { COOKIE_METHODS, FASTIFY_METHODS, FASTIFY_PROPERTIES, FASTIFY_SENDERS } from './fastify-stands.js';
import { NODE_METHODS, NODE_PROPERTIES, NODE_SENDERS } from './node-stands.js';
import {
  type Active,
  overrideMethods,
  overridePassing,
  overrideProperties,
  overrideSenders,
} from './override.js';
import type { Reply } from './reply.js';
import { watchRequest } from './request-watch.js';
import { type ShadowScope, ShadowResponse } from './shadow-response.js';

/** The part of an `AsyncLocalStorage` that is used. */
export interface ScopeReader {
  getStore(): ShadowScope | undefined;
}

/** Marks a response whose methods know of shadows; its value is the scope they ask. */
const INSTALLED = Symbol('stampede-cache.shadow');

/**
 * A shadow for one run of a handler. Within `scope`, the response's methods and properties are the shadow's; for everybody else
 * they are what they were. They are put on the response once, however many runs there are.
 * @param status what the handler starts with. @default the route's own, as it was before the reply was written
 */
export function shadowOf(reply: Reply, scope: ScopeReader, status?: number): ShadowResponse {
  if (Reflect.get(reply.response, INSTALLED) !== scope) install(reply, scope);
  return new ShadowResponse(reply, status);
}

function install(reply: Reply, scope: ScopeReader): void {
  const { response, raw } = reply;
  const active: Active = () => {
    const shadow = scope.getStore()?.shadow;
    return shadow?.standsFor(response) ? shadow : undefined;
  };
  Object.defineProperty(response, INSTALLED, { configurable: true, value: scope });
  overrideMethods(raw, NODE_METHODS, active);
  overrideSenders(raw, NODE_SENDERS, active);
  overrideProperties(raw, NODE_PROPERTIES, active);
  overridePassing(raw, ['writeEarlyHints'], active, () => undefined);
  watchRequest(reply, active);
  if (reply.platform === 'express') return;
  overrideMethods(response, FASTIFY_METHODS, active);
  overrideSenders(response, FASTIFY_SENDERS, active);
  overrideProperties(response, FASTIFY_PROPERTIES, active);
  overridePassing(response, COOKIE_METHODS, active, (shadow) => shadow.noteCookies());
}
