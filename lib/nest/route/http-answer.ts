import type { Answer } from '../../core/call/index.js';
import type { RoutePlan } from './plan.js';
import {
  addCacheStatus,
  addCookies,
  applyHead,
  cacheControlOf,
  isNotModified,
  jsonContentType,
  toNotModified,
  varyWith,
  type CacheStatus,
  type Reply,
} from './response/index.js';
import { NO_HEAD } from './route-policy.js';
import type { RouteResponse } from './route-response.js';

/** A request as far as its answer depends on it. */
export interface Asker {
  readonly ifNoneMatch: string | undefined;
  /** It carries a credential: nobody else may keep a copy. */
  readonly isPrivate: boolean;
  /** It asked for a load of its own. */
  readonly wantedFresh: boolean;
}

/** Writes the head of an answer. Returns what Nest is to send as its body. */
export function writeAnswer(
  plan: RoutePlan,
  reply: Reply,
  answer: Answer,
  response: RouteResponse,
  asker: Asker,
  cookies: readonly string[],
): unknown {
  const { head, etag, text } = response;
  if (head !== NO_HEAD) applyHead(reply, head);
  if (answer.outcome === 'loaded') addCookies(reply, cookies);
  writeCaching(plan, reply, answer, response, asker);
  if (etag !== undefined) {
    reply.set('etag', etag);
    if (isSuccess(head.status) && isNotModified(asker.ifNoneMatch, etag)) {
      toNotModified(reply);
      return undefined;
    }
  }
  if (text === undefined) return response.body;
  if (reply.get('content-type') === undefined) reply.set('content-type', jsonContentType(reply.platform));
  return text;
}

/** What an answer tells that did not come from the cache, nor went there. The handler may say otherwise, before or after. */
export function writeBypass(
  plan: RoutePlan,
  reply: Reply,
  fwd: 'bypass' | 'request' | 'uri-miss',
  detail?: string,
): void {
  const { cacheControl } = plan.http;
  addCacheStatus(reply, { name: plan.cache.name, fwd, detail });
  if (cacheControl !== false && reply.get('cache-control') === undefined) {
    reply.set('cache-control', 'private, no-cache');
  }
  writeVary(plan, reply);
}

function writeCaching(
  plan: RoutePlan,
  reply: Reply,
  answer: Answer,
  { head }: RouteResponse,
  { isPrivate, wantedFresh }: Asker,
): void {
  const { http, policy } = plan;
  const { age, staleFor, freshFor, outcome } = answer;
  const isOwn = head.headers.some(([name]) => name === 'cache-control') || plan.declaresCacheControl;
  const isSet = isOwn || (!http.saysCacheControl && reply.get('cache-control') !== undefined);
  const stored = freshFor > 0 || staleFor > 0;
  if (!isSet) {
    const life = {
      ageMs: age,
      freshForMs: freshFor - staleFor,
      staleMs: outcome === 'negative' ? 0 : policy.stale,
      staleIfErrorMs: outcome === 'negative' ? 0 : policy.staleIfError,
      stored,
    };
    const text = cacheControlOf({
      setting: http.cacheControl,
      life,
      isPrivate: isPrivate || plan.isPrivate,
    });
    if (text !== undefined) reply.set('cache-control', text);
  }
  writeVary(plan, reply);
  if (isFromStore(answer)) reply.set('age', String(Math.floor(age / 1000)));
  addCacheStatus(reply, statusOf(plan, answer, reply.status, stored, wantedFresh));
}

function writeVary({ vary, varyText }: RoutePlan, reply: Reply): void {
  if (vary.length === 0) return;
  const there = reply.get('vary');
  reply.set('vary', there === undefined ? varyText : varyWith(there, vary));
}

function isFromStore({ outcome }: Answer): boolean {
  return outcome === 'fresh' || outcome === 'stale' || outcome === 'early' || outcome === 'negative';
}

function statusOf(
  { cache: { name } }: RoutePlan,
  answer: Answer,
  fwdStatus: number,
  stored: boolean,
  wantedFresh: boolean,
): CacheStatus {
  const { freshFor, staleFor, outcome } = answer;
  if (isFromStore(answer)) return { name, ttlMs: freshFor - staleFor };
  const fwd = wantedFresh ? 'request' : 'uri-miss';
  if (outcome === 'fallback') return { name, fwd, detail: 'fallback' };
  const collapsed = outcome === 'joined' || outcome === 'waited';
  return { name, fwd, fwdStatus, stored, collapsed, ...(stored && { ttlMs: freshFor }) };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
