import type { LoadContext } from '../../core/load/index.js';
import type { ResponseHead } from './contracts.js';
import type { Request } from '../../core/request.js';
import type { OwnRun } from './own-run.js';
import type { Passage } from './pass.js';
import type { RoutePlan } from './plan.js';
import { personalReason, reasonOfThrown } from './personal.js';
import { etagOf, isJsonPlain, shadowOf, toJsonText, type Reply } from './response/index.js';
import { NotForOthers, RouteResponse } from './route-response.js';
import { tagResponse } from './reach.js';
import type { RouteRun, RouteScope } from './route-scope.js';
import { SEVERAL, takeAnswer, type Answered } from './single-value.js';
import { isError, streamIn } from './streaming.js';

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
  let answered: Answered;
  try {
    answered = await scope.run(inside, () => takeAnswer(next.handle()));
  } catch (error) {
    const reason = reasonOfThrown(plan, shadow);
    if (reason === undefined) throw error;
    own.keep({ value: undefined, rest: undefined, thrown: { error } });
    context.skip();
    return new NotForOthers(reason);
  } finally {
    inside.shadow = undefined;
  }
  const value = answered.kind === 'one' ? answered.value : undefined;
  const forOne = (answer: NotForOthers): NotForOthers => {
    own.keep({ value, rest: answered.kind === 'one' ? undefined : answered.rest });
    // Not stored, and no failure.
    context.skip();
    return answer;
  };
  const odd = answered.kind === 'several' ? SEVERAL : shadow.sentByHand ? BY_HAND : streamIn(value);
  if (odd !== undefined) {
    plan.noteOdd(odd);
    return forOne(new NotForOthers());
  }
  // The framework may make an error response of it.
  if (isError(value)) return forOne(new NotForOthers());
  if (plan.keepsOld(value)) return value;
  const { head, cookies, setsCookies } = shadow.head();
  const reason = personalReason(plan, shadow, head);
  if (reason !== undefined) return forOne(new NotForOthers(reason));
  own.cookies = cookies;
  if (plan.http.mayStore(head.status)) {
    if (setsCookies) plan.tellOnce('cookie', COOKIE);
    tagResponse(plan, inside, asked, verb, context);
  } else context.skip();
  return toResponse(plan, reply, head, value);
}

const COOKIE =
  'the handler sets a cookie, which only the client gets whose request ran it, while the body is stored and shared. Where the two belong together, as with a CSRF token, add @NoCache(); else set the cookie in a middleware or an interceptor outside.';

const BY_HAND = 'the handler sent its response by hand';

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
