import { NOT_MODIFIED } from '../../core/load/index.js';
import type { ResolvedPolicy } from '../../core/policy/index.js';
import type { CachedMethod } from '../cached/cached-method.js';
import type { ManagedCache } from '../managed-cache.js';
import type { InputReader, InputReading } from './contracts.js';
import { OddAnswers } from './odd-answers.js';
import type { PlannedInputs } from './plan-inputs.js';
import type { ResolvedHttp } from './resolve-http.js';
import type { HandlerKind } from './transports/index.js';

/** How requests of one marked handler are answered. Made once for each kind of request that reaches it. */
export class RoutePlan {
  readonly reader: InputReader;
  /** Request headers that the answer depends on. */
  readonly vary: readonly string[];
  /** Of {@link vary}, as a header. */
  readonly varyText: string;
  readonly placeOf: PlannedInputs['placeOf'];
  /** Its key has parts that other caches can't see, so that none of them may keep its responses for others. */
  readonly isPrivate: boolean;
  private alone: string | undefined;
  private readonly odd: OddAnswers;

  constructor(
    readonly kind: HandlerKind,
    readonly cache: ManagedCache,
    readonly method: CachedMethod,
    /** Of the responses, not of what the handler returns. */
    readonly policy: ResolvedPolicy,
    readonly http: ResolvedHttp,
    private readonly inputs: PlannedInputs,
    /** Nobody changes the answer on its way out. */
    readonly isOutermost: boolean,
    /** What `when` sees as `this`, where the class has one instance. */
    private readonly instance: object | undefined,
    /** The handler has a `Cache-Control` of its own (`@Header`). */
    readonly declaresCacheControl: boolean,
  ) {
    this.reader = inputs.reader;
    this.vary = inputs.vary;
    this.varyText = inputs.vary.join(', ');
    this.placeOf = inputs.placeOf;
    const vary = policy.vary ?? cache.options.vary;
    this.isPrivate = !http.public && (inputs.isHidden || (vary !== undefined && vary !== false));
    this.odd = new OddAnswers(() => cache.now());
  }

  /** Whether a credential matters. */
  get needsCover(): boolean {
    return !this.http.public && this.http.credentials.length > 0;
  }

  /** Whether the author wants this request cached. */
  applies(reading: InputReading): boolean {
    const { method } = this;
    return !method.hasWhen || method.applies(this.instance, reading.args);
  }

  /** Whether a handler returned what `notModified()` gave it. */
  keepsOld(value: unknown): boolean {
    return value === NOT_MODIFIED;
  }

  /** Its answers are for one request each: its declaration says so, or its last few answers did. */
  get isForOneEach(): boolean {
    return this.alone !== undefined || this.odd.isResting;
  }

  /** Whether the request header `name`, in lower case, is known to be an input. */
  declaresHeader(name: string): boolean {
    return this.inputs.headers.has(name);
  }

  /** The handler gave an answer that only one client can have; others of its answers may be of another kind. Told of once. */
  noteOdd(why: string): void {
    this.odd.note();
    this.tellOnce(
      'odd',
      `${why}. Such an answer is not cached; after several in a row requests go straight to the handler for a minute. If it always answers so, take its mark away, or add @NoCache().`,
    );
  }

  /** An answer that others can have too. */
  noteShareable(): void {
    this.odd.endRow();
  }

  /** Why answers of the handler can't be shared, which its author can change. */
  tellOnce(about: string, message: string): void {
    const { where } = this.method;
    this.cache.advice.once(where, `route ${about}`, `${where}: ${message}`);
  }

  /** An input was nothing that a key can be made of: its request went straight to the handler. Told of once a minute. */
  tellOfKey(error: Error): void {
    this.cache.advice.sometimes(
      `${this.method.where} key`,
      () => `${error.message} The request went past the cache.`,
    );
  }

  /** For good: what its declaration says. Told of once. */
  leaveAlone(why: string): void {
    if (this.alone !== undefined) return;
    this.alone = why;
    this.cache.warn(
      `${this.method.where}: ${why}, so its responses are not cached. Take its mark away, or add @NoCache().`,
    );
  }
}

/** What the interceptor knows of a handler: how it answers it, or only that the method's own wrapper stands aside. */
export interface Routed {
  /** The use of `@Cached` whose wrapper stands aside. */
  readonly aside: object | undefined;
  readonly plan: RoutePlan | undefined;
}
