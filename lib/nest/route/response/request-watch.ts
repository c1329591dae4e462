import { type Active, overrideAround, overrideProperties, type PropertyStand } from './override.js';
import type { Reply } from './reply.js';

/** What looks at the request for the framework's own ends, and shows the handler nothing of it. */
const QUIET_METHODS = {
  express: ['cookie'], // the secret of a cookie parser; `clearCookie` is made of it
  // @fastify/cookie asks for the protocol; the rest finds its route by the request.
  fastify: [
    'setCookie',
    'cookie',
    'clearCookie',
    'serialize',
    'serializeInput',
    'getSerializationFunction',
    'compileSerializationSchema',
  ],
} as const;
const QUIET_PROPERTIES = { express: [], fastify: ['server', 'routeOptions'] } as const;

/**
 * Notes on the shadow that a handler reached for the request over its response: an input that no declaration names. Node's
 * response has it as `req`, Fastify's reply as `request` too.
 */
export function watchRequest(reply: Reply, active: Active): void {
  const { response, raw, platform } = reply;
  let isQuiet = false;
  const quietly = <T>(look: () => T): T => {
    const before = isQuiet;
    isQuiet = true;
    try {
      return look();
    } finally {
      isQuiet = before;
    }
  };
  const noted: PropertyStand = {
    get: (shadow, real) => {
      if (!isQuiet) shadow.readsRequest = true;
      return real();
    },
  };
  const quiet: PropertyStand = { get: (_shadow, real) => quietly(real) };
  overrideProperties(raw, { req: noted }, active);
  if (platform === 'fastify') overrideProperties(response, { request: noted }, active);
  overrideAround(response, QUIET_METHODS[platform], quietly);
  for (const name of QUIET_PROPERTIES[platform]) overrideProperties(response, { [name]: quiet }, active);
}
