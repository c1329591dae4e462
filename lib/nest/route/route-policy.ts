import type { ResolvedPolicy } from '../../core/policy/index.js';
import type { ResponseHead } from './contracts.js';
import { NotForOthers, RouteResponse, responseSerializer } from './route-response.js';

/** The head of what no handler answered: a degraded answer, or one that needed no load. The route's own status stands. */
export const NO_HEAD: ResponseHead = { status: 200, headers: [] };

const ORDER =
  'Bind StampedeCacheInterceptor outside of what makes it plain: @UseInterceptors(StampedeCacheInterceptor, ClassSerializerInterceptor). Or ';

/**
 * The policy of a handler as one of its responses: the user's functions get what the handler answered with. Of an answer for one
 * request nothing depends on them.
 */
export function routePolicyOf(policy: ResolvedPolicy): ResolvedPolicy {
  const { ttlOf, isNegative, cacheIf, valueTags, fallback, where } = policy;
  return {
    ...policy,
    ttlOf: ttlOf && ((response, ...args) => ttlOf(bodyOf(response), ...args)),
    isNegative: (response) => !isForOne(response) && isNegative(bodyOf(response)),
    cacheIf: cacheIf && ((response) => !isForOne(response) && cacheIf(bodyOf(response))),
    valueTags:
      valueTags &&
      ((response, ...args) => {
        const body = isForOne(response) ? undefined : bodyOf(response);
        return body === null || body === undefined ? [] : valueTags(body, ...args);
      }),
    fallback:
      fallback &&
      (async (error, ...args) =>
        new RouteResponse(NO_HEAD, await fallback(error, ...args), undefined, undefined)),
    types: undefined,
    serializer: responseSerializer(where, policy.types, policy.serializer, ORDER),
    shared: false,
    lends: true,
    // Its body is made anew for each who asks.
    isLasting: (response) => response instanceof RouteResponse && response.text !== undefined,
  };
}

/** What the engine answered a route with; "not found" without a load has no response. */
export function responseOf(value: unknown): RouteResponse {
  return value instanceof RouteResponse ? value : new RouteResponse(NO_HEAD, value, undefined, undefined);
}

function isForOne(response: unknown): boolean {
  return response instanceof NotForOthers;
}

function bodyOf(response: unknown): unknown {
  return response instanceof RouteResponse ? response.body : response;
}
