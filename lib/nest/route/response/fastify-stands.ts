import { headersObject } from './node-stands.js';
import type { PropertyStand, Stand } from './override.js';

/**
 * What Fastify's reply does with headers, done to a shadow. `code`, `status`, `headers` and `redirect` are made of these and of
 * Node's response.
 */
export const FASTIFY_METHODS: Readonly<Record<string, Stand>> = {
  header: (shadow, [name, value = ''], target) => {
    shadow.setOnReply(String(name), value);
    return target;
  },
  type: (shadow, [value], target) => {
    shadow.set('content-type', value, 'reply');
    return target;
  },
  getHeader: (shadow, [name]) => shadow.get(String(name)),
  getHeaders: (shadow) => ({ ...headersObject(shadow) }),
  hasHeader: (shadow, [name]) => shadow.get(String(name)) !== undefined,
  removeHeader: (shadow, [name], target) => {
    shadow.remove(String(name));
    return target;
  },
};

const swallow: Stand = (_shadow, _args, target) => target;
const swallowSend: Stand = (shadow, _args, target) => {
  shadow.headersSent = shadow.ended = true;
  return target;
};

/** A serializer or trailers of its own can't be kept in an entry either: such a reply counts as sent by hand. */
export const FASTIFY_SENDERS: Readonly<Record<string, Stand>> = {
  send: swallowSend,
  callNotFound: swallowSend,
  hijack: swallowSend,
  serializer: swallow,
  trailer: swallow,
};

export const FASTIFY_PROPERTIES: Readonly<Record<string, PropertyStand>> = {
  sent: { get: (shadow) => shadow.ended },
};

/** Of @fastify/cookie: it keeps cookies apart until the reply is sent, so they go there, and are known of. */
export const COOKIE_METHODS = ['setCookie', 'cookie', 'clearCookie'] as const;
