import { of, type Observable } from 'rxjs';
import type { LoadContext } from '../../core/load/index.js';
import type { Request } from '../../core/request.js';
import { isThenable } from '../is-thenable.js';
import { OwnRun } from './own-run.js';
import { pass, type Passage } from './pass.js';
import type { RoutePlan } from './plan.js';
import { tagResponse } from './reach.js';
import { keyOrUndefined, requestOf } from './request-of.js';
import { responseOf } from './route-policy.js';
import { NotForOthers, RouteResponse } from './route-response.js';
import type { RouteRun, RouteScope } from './route-scope.js';
import { SEVERAL, takeAnswer } from './single-value.js';
import { isError, streamIn } from './streaming.js';
import { carriedCredentials, mayCache } from './transports/index.js';

const HEAD = { status: 200, headers: [] } as const;

/** Answers what comes by GraphQL, as a message or through a socket: the value is all there is of the response. */
export class MessageRoutes {
  constructor(private readonly scope: RouteScope) {}

  async answer(plan: RoutePlan, passage: Passage): Promise<Observable<unknown>> {
    const { context } = passage;
    const { core } = plan.cache;
    const call = core.requests.call(undefined);
    if (plan.isForOneEach || mayCache(context) !== 'yes' || plan.cache.goesStraight(call)) {
      return pass(this.scope, passage);
    }
    const credentials = plan.needsCover ? carriedCredentials(context, plan.http.credentials) : [];
    const read = plan.reader.read(context, credentials);
    const reading = isThenable(read) ? await read : read;
    const isOpen = reading !== undefined && (credentials.length === 0 || reading.isCovered);
    if (!isOpen || !plan.applies(reading)) return pass(this.scope, passage);

    const key = keyOrUndefined(plan, plan.kind, reading.parts, call);
    if (key === undefined) return pass(this.scope, passage);
    const own = new OwnRun();
    const request: Request = requestOf(plan, key, reading, call, (loadContext) =>
      this.load({ plan, passage, own, asked: request }, loadContext),
    );
    const opening = plan.cache.ready();
    if (opening) await opening;
    const { value } = await core.answer(request);
    if (value instanceof NotForOthers) return own.take() ?? pass(this.scope, passage);
    own.end();
    plan.noteShareable();
    return of(responseOf(value).body);
  }

  private async load(run: MessageRun, loadContext: LoadContext): Promise<unknown> {
    const { plan, passage, own, asked } = run;
    const { context, next, aside } = passage;
    const inside: RouteRun = { request: context.getArgs(), aside };
    const answered = await this.scope.run(inside, () => takeAnswer(next.handle()));
    const value = answered.kind === 'one' ? answered.value : undefined;
    const odd = answered.kind === 'several' ? SEVERAL : streamIn(value);
    if (odd === undefined && !isError(value)) {
      if (plan.keepsOld(value)) return value;
      tagResponse(plan, inside, asked, plan.kind, loadContext);
      return new RouteResponse(HEAD, value, undefined, undefined);
    }
    if (odd !== undefined) plan.noteOdd(odd);
    own.keep({ value, rest: answered.kind === 'one' ? undefined : answered.rest });
    loadContext.skip();
    return new NotForOthers();
  }
}

/** What one run of a handler needs. */
interface MessageRun {
  readonly plan: RoutePlan;
  readonly passage: Passage;
  readonly own: OwnRun;
  readonly asked: Request;
}
