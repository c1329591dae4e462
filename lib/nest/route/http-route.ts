import { GatewayTimeoutException } from '@nestjs/common';
import { of, type Observable } from 'rxjs';
import type { EntryKey } from '../../core/keys/index.js';
import type { ResolvedCall } from '../../core/policy/index.js';
import type { Request } from '../../core/request.js';
import { retryAfterSeconds, Unavailable, type UnavailableError } from '../errors/unavailable.js';
import { isThenable } from '../is-thenable.js';
import { whenGone, type Client } from './client.js';
import type { InputReading } from './contracts.js';
import { writeAnswer, writeBypass, type Asker } from './http-answer.js';
import { loadResponse } from './http-load.js';
import { wishesOf, type Wishes } from './http-wishes.js';
import { credentialsOf } from './inputs/index.js';
import { OwnRun } from './own-run.js';
import { pass, type Passage } from './pass.js';
import type { RoutePlan } from './plan.js';
import { keyOrUndefined, requestOf } from './request-of.js';
import { addCookies, applyHead, replyOf, type Reply } from './response/index.js';
import { responseOf } from './route-policy.js';
import { NotForOthers } from './route-response.js';
import type { RouteScope } from './route-scope.js';

/** What is read of a request, of either platform. */
interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const NONE: readonly string[] = [];
const READING = new Set(['GET', 'HEAD']);

/** A request that the cache is to answer. */
interface Inquiry {
  readonly plan: RoutePlan;
  readonly passage: Passage;
  readonly reply: Reply;
  readonly key: EntryKey;
  readonly reading: InputReading;
  readonly wishes: Wishes | undefined;
  readonly verb: string;
}

/** What it asks the engine, and what comes of that. */
interface Question {
  readonly own: OwnRun;
  readonly asked: Request;
  readonly gone: Client | undefined;
  readonly asker: Asker;
}

/** Answers requests over HTTP. */
export class HttpRoutes {
  constructor(private readonly scope: RouteScope) {}

  /** No Promise where this process has the answer: each one costs every hit. */
  answer(plan: RoutePlan, passage: Passage): Observable<unknown> | Promise<Observable<unknown>> {
    const { context } = passage;
    const request = context.getArgByIndex<HttpRequest>(0);
    const { http, cache } = plan;
    const call = cache.core.requests.call(undefined);
    if (plan.isForOneEach || !READING.has(request.method) || cache.goesStraight(call)) {
      return pass(this.scope, passage);
    }
    const credentials = http.public ? NONE : credentialsOf(request, http.credentials);
    const read = plan.reader.read(context, credentials);
    return isThenable(read)
      ? read.then((reading) => this.answerAbout(plan, passage, reading, credentials, call))
      : this.answerAbout(plan, passage, read, credentials, call);
  }

  private answerAbout(
    plan: RoutePlan,
    passage: Passage,
    reading: InputReading | undefined,
    credentials: readonly string[],
    call: ResolvedCall,
  ): Observable<unknown> | Promise<Observable<unknown>> {
    const { context } = passage;
    const request = context.getArgByIndex<HttpRequest>(0);
    const { http, cache } = plan;
    // Undefined: the handler will meet the same.
    if (reading === undefined) return pass(this.scope, passage);
    const reply = replyOf(context.getArgByIndex<object>(1));
    if (credentials.length > 0 && plan.needsCover && !reading.isCovered) {
      return this.goAround(plan, passage, reply, 'bypass', 'credential');
    }
    if (!plan.applies(reading)) return pass(this.scope, passage);
    const wishes = wishesOf(request.headers, http.directives);
    if (wishes?.noStore === true) return this.goAround(plan, passage, reply, 'request');
    const { parts } = reading;
    const all = plan.placeOf === undefined ? parts : [plan.placeOf(request), ...parts];
    const key = keyOrUndefined(plan, request.method, all, call);
    if (key === undefined) return this.goAround(plan, passage, reply, 'bypass', 'key');
    const inquiry = { plan, passage, reply, key, reading, wishes, verb: request.method };
    const asker = {
      ifNoneMatch: request.headers['if-none-match'],
      isPrivate: credentials.length > 0,
      wantedFresh: wishes?.call.fresh === true,
    };
    const opening = cache.ready();
    return opening ? opening.then(() => this.ask(inquiry, call, asker)) : this.ask(inquiry, call, asker);
  }

  private ask(
    inquiry: Inquiry,
    plain: ResolvedCall,
    asker: Asker,
  ): Observable<unknown> | Promise<Observable<unknown>> {
    const { plan, passage, reply, key, reading, wishes, verb } = inquiry;
    const own = new OwnRun();
    const gone = plan.policy.abandon === 'abort' ? whenGone(reply.raw) : undefined;
    const call = wishes || gone ? { ...plain, ...wishes?.call, ...(gone && { signal: gone.signal }) } : plain;
    const asked: Request = requestOf(plan, key, reading, call, (loadContext) =>
      loadResponse(this.scope, { plan, passage, reply, own, asked, verb }, loadContext),
    );
    const near = wishes ? undefined : plan.cache.core.near(asked);
    if (near === undefined) return this.askStore(inquiry, { own, asked, gone, asker });
    own.end();
    plan.noteShareable();
    return of(writeAnswer(plan, reply, near, responseOf(near.value), asker, NONE));
  }

  private async askStore(inquiry: Inquiry, question: Question): Promise<Observable<unknown>> {
    const { plan, reply, wishes } = inquiry;
    const { own, asked, gone, asker } = question;
    const { core } = plan.cache;
    try {
      const answer = await (wishes ? wishes.answer(core, asked) : core.answer(asked));
      if (answer === undefined) throw new GatewayTimeoutException('Nothing is cached (only-if-cached).');
      if (answer.value instanceof NotForOthers) return this.alone(inquiry, own, answer.value);
      own.end();
      plan.noteShareable();
      return of(writeAnswer(plan, reply, answer, responseOf(answer.value), asker, own.cookies));
    } catch (error) {
      own.end();
      // Nobody is there to be told.
      if (gone?.signal.aborted === true && error === gone.signal.reason) return of(undefined);
      this.keepHeaders(own, reply);
      if (error instanceof Unavailable) {
        reply.set('retry-after', String(retryAfterSeconds(error as unknown as UnavailableError)));
      }
      throw error;
    } finally {
      gone?.forget();
    }
  }

  private goAround(
    plan: RoutePlan,
    passage: Passage,
    reply: Reply,
    fwd: 'bypass' | 'request',
    detail?: string,
  ): Observable<unknown> {
    writeBypass(plan, reply, fwd, detail);
    return pass(this.scope, passage);
  }

  /** What our handler wrote before it failed goes out with the error, as it would without us. */
  private keepHeaders({ shadow }: OwnRun, reply: Reply): void {
    if (shadow === undefined || shadow.sentByHand) return;
    const { head, cookies } = shadow.head();
    applyHead(reply, { ...head, status: reply.status });
    addCookies(reply, cookies);
  }

  /** The answer is for one request: ours, if our handler gave it; else ours has yet to run. */
  private alone(
    { plan, passage, reply }: Inquiry,
    own: OwnRun,
    { reason }: NotForOthers,
  ): Observable<unknown> {
    const { shadow, hasThrown } = own;
    const answer = own.take();
    if (hasThrown) this.keepHeaders(own, reply);
    else if (answer !== undefined && shadow?.sentByHand === false) {
      const { head, cookies } = shadow.head();
      applyHead(reply, head);
      addCookies(reply, cookies);
    }
    if (reason !== undefined) writeBypass(plan, reply, 'uri-miss', reason);
    return answer ?? pass(this.scope, passage);
  }
}
