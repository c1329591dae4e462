import type { ServerResponse } from 'node:http';
import { ExpressReply } from './express-reply.js';
import { type FastifyLike, FastifyReply } from './fastify-reply.js';
import type { Reply } from './reply.js';

/** The response of a request by its structure: Fastify wraps Node's response, Express extends it. */
export function replyOf(response: object): Reply {
  return isFastify(response) ? new FastifyReply(response) : new ExpressReply(response as ServerResponse); // what is left: Express
}

export function isFastify(response: object): response is FastifyLike {
  const { raw, header } = response as Partial<FastifyLike>; // looked at by name
  return typeof raw === 'object' && typeof header === 'function';
}
