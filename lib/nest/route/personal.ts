import type { ResponseHead } from './contracts.js';
import type { RoutePlan } from './plan.js';
import type { HeaderValue, ShadowResponse } from './response/index.js';

/** Statuses that answer what one request brought along: its ranges, its conditions, its credentials, its pace. */
const OF_ONE_REQUEST: ReadonlySet<number> = new Set([206, 304, 401, 403, 407, 412, 416, 428, 429]);
const PARTIAL_CONTENT = 206;
const NO_STORE = /(?:^|[\s,])no-store(?:$|[\s,])/i;
const PRIVATE = /(?:^|[\s,])private(?:$|[\s,])/i;

/**
 * Why a response is for the request alone whose handler made it, in a word. Undefined: the other requests of its key may have
 * it, stored or not.
 */
export function personalReason(
  plan: RoutePlan,
  shadow: ShadowResponse,
  head: ResponseHead,
): string | undefined {
  const control = linesOf(head, 'cache-control');
  if (NO_STORE.test(control)) return 'no-store';
  const varied = namesIn(linesOf(head, 'vary'));
  if (varied.includes('*')) return 'vary';
  if (isOfOneRequest(plan, head.status)) return 'status';
  // Whoever made the key has said for whom an entry is, and what it depends on.
  if (plan.http.key !== undefined) return undefined;
  if (PRIVATE.test(control)) return 'private';
  if (variesByMore(plan, shadow, varied)) return 'vary';
  return readsMore(plan, shadow) ? 'request' : undefined;
}

/** The same of a handler that threw: what it wrote and read before that. Its status is the error's, which all of them get. */
export function reasonOfThrown(plan: RoutePlan, shadow: ShadowResponse): string | undefined {
  return personalReason(plan, shadow, { ...shadow.head().head, status: 200 });
}

function isOfOneRequest(plan: RoutePlan, status: number): boolean {
  if (!OF_ONE_REQUEST.has(status) || plan.http.namedStatuses.has(status)) return false;
  return status !== PARTIAL_CONTENT || !plan.declaresHeader('range');
}

/** The handler names a header that is no part of the key. What stood there before it ran is others' affair. */
function variesByMore(plan: RoutePlan, { reply }: ShadowResponse, varied: readonly string[]): boolean {
  if (varied.length === 0) return false;
  const before = namesIn(textOf(reply.before('vary')));
  const more = varied.filter((name) => !before.includes(name) && !plan.declaresHeader(name));
  if (more.length === 0) return false;
  const list = more.map((name) => `'${name}'`).join(', ');
  plan.tellOnce(
    'vary',
    `the handler sets Vary: ${more.join(', ')}, which is no part of the key, so these responses are not shared. Declare what it reads: http.inputs: { headers: [${list}] }.`,
  );
  return true;
}

function readsMore(plan: RoutePlan, { readsRequest }: ShadowResponse): boolean {
  if (!readsRequest || plan.http.inputs !== undefined) return false;
  plan.tellOnce(
    'request',
    "the handler takes the request from its response (@Res({ passthrough: true })), and what it reads there is no part of the key, so these responses are not shared. Declare what it reads, by @Query('x') and the like or http.inputs, or give an http.key.",
  );
  return true;
}

function linesOf({ headers }: ResponseHead, wanted: string): string {
  return textOf(headers.find(([name]) => name === wanted)?.[1]);
}

function textOf(value: HeaderValue | undefined): string {
  return value === undefined || typeof value === 'string' ? (value ?? '') : value.join(',');
}

function namesIn(field: string): readonly string[] {
  const names = field.split(',').map((name) => name.trim().toLowerCase());
  return [...new Set(names)].filter((name) => name !== '');
}
