import type { LoadContext } from '../../core/load/index.js';
import type { ResponseHead } from './contracts.js';
import type { Request } from '../../core/request.js';
import type { OwnRun } from './own-run.js';
import type { Passage } from './pass.js';
import type { RoutePlan } from './plan.js';
import { etagOf, isJsonPlain, shadowOf, toJsonText, type Reply } from './response/index.js';
import { NotForOthers, RouteResponse } from './route-response.js';
import { tagResponse } from './reach.js';
import type { RouteRun, RouteScope } from './route-scope.js';
import { takeAnswer } from './single-value.js';
import { streamIn } from './streaming.js';

/** What one run of a handler needs. */
export interface HttpRun {
  readonly plan: RoutePlan;
  readonly passage: Passage;
  readonly reply: Reply;
  readonly own: OwnRun;
  /** What the request asks the engine. */
  readonly asked: Request;
  readonly verb: string;
}

/** Runs the handler on a shadow of the response, and makes of both what every request of the key gets. */
export async function loadResponse(scope: RouteScope, run: HttpRun, context: LoadContext): Promise<unknown> {
  const { plan, passage, reply, own, asked, verb } = run;
  const { context: request, next, aside } = passage;
  const shadow = shadowOf(reply, scope.storage);
  own.shadow = shadow;
  const inside: RouteRun = { request: request.getArgs(), aside, shadow };
  const answered = await scope
    .run(inside, () => takeAnswer(next.handle()))
    .finally(() => (inside.shadow = undefined));
  const several = answered.kind === 'several';
  const value = several ? undefined : answered.value;
  const why = several ? SEVERAL : shadow.sentByHand ? BY_HAND : forOne(value);
  if (why !== undefined) {
    own.keep({ value, rest: several ? answered.rest : undefined });
    plan.leaveAlone(why);
    return new NotForOthers(why);
  }
  if (plan.keepsOld(value)) return value;
  const { head, cookies } = shadow.head();
  own.cookies = cookies;
  if (!plan.http.mayStore(head.status) || forbidsStorage(plan, head)) context.skip();
  else tagResponse(plan, inside, asked, verb, context);
  return toResponse(plan, reply, head, value);
}

const NO_STORE = /(?:^|[\s,])no-store(?:$|[\s,])/i;
const PRIVATE = /(?:^|[\s,])private(?:$|[\s,])/i;
const SEVERAL = 'the handler answers with an Observable of several values';
const BY_HAND = 'the handler sends its response by hand';

function forOne(value: unknown): string | undefined {
  const stream = streamIn(value);
  return stream && `the handler answers with ${stream}`;
}

/** The handler itself says that nobody else may get this, or that no one request tells for whom it holds. */
function forbidsStorage({ http }: RoutePlan, { headers }: ResponseHead): boolean {
  return headers.some(([name, value]) => {
    const text = typeof value === 'string' ? value : value.join(',');
    if (name === 'vary') return text.includes('*');
    if (name !== 'cache-control') return false;
    // Whoever made the key has said for whom an entry is.
    return NO_STORE.test(text) || (http.key === undefined && PRIVATE.test(text));
  });
}

function toResponse(plan: RoutePlan, reply: Reply, head: ResponseHead, body: unknown): RouteResponse {
  // Interceptors further out may make something else of the value.
  if (!plan.isOutermost) return new RouteResponse(head, body, undefined, undefined);
  const text = isSentAsJson(reply, head, body) ? toJsonText(reply.response, body) : undefined;
  const own = head.headers.find(([name]) => name === 'etag')?.[1];
  return new RouteResponse(head, body, text, typeof own === 'string' ? own : etagFor(text ?? body));
}

function etagFor(sent: unknown): string | undefined {
  return typeof sent === 'string' || Buffer.isBuffer(sent) ? etagOf(sent) : undefined;
}

/** Whether the framework would write it as JSON, and would write nothing but that. */
function isSentAsJson(reply: Reply, { headers }: ResponseHead, body: unknown): boolean {
  if (typeof body !== 'object' || body === null || ArrayBuffer.isView(body)) return false;
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? reply.before('content-type');
  return (type === undefined || String(type).includes('json')) && isJsonPlain(reply.response);
}
